// A drop zone for files with a file chooser.
import { Button } from 'antd';
import { useRef, useState, type ReactNode } from 'react';

interface Props {
  /** Shown before the button. */
  text: string;
  button: string;
  /** Accessible name of the input. */
  label: string;
  multiple?: boolean;
  /** The `accept` attribute of an input. */
  accept?: string;
  icon?: ReactNode;
  /** Shown below: accepted files, link to a template. */
  children?: ReactNode;
  onFiles: (files: File[]) => void;
}

export function DropZone({ text, button, label, multiple, accept, icon, children, onFiles }: Props) {
  const [isOver, setOver] = useState(false);
  const input = useRef<HTMLInputElement>(null);
  const take = (files: FileList | null) => {
    const given = [...(files ?? [])];
    if (given.length > 0) onFiles(multiple ? given : given.slice(0, 1));
  };
  return (
    <div
      className={isOver ? 'drop over' : 'drop'}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        take(event.dataTransfer.files);
      }}
    >
      {icon}
      <span>
        {text} <Button onClick={() => input.current?.click()}>{button}</Button>
      </span>
      {children}
      <input
        ref={input}
        type="file"
        multiple={multiple}
        hidden
        accept={accept}
        aria-label={label}
        onChange={({ target }) => {
          take(target.files);
          // Choosing the same file again must fire too.
          target.value = '';
        }}
      />
    </div>
  );
}
