// A button that opens a menu, by mouse and by keyboard.
import { Button, Dropdown, type ButtonProps, type MenuProps } from 'antd';
import { useRef, useState } from 'react';

interface Props extends ButtonProps {
  items: NonNullable<MenuProps['items']>;
  onChoose: (key: string) => void;
}

export function MenuButton({ items, onChoose, ...button }: Props) {
  const place = useRef<HTMLButtonElement>(null);
  const [isOpen, setOpen] = useState(false);
  const choose: MenuProps['onClick'] = ({ key, domEvent }) => {
    // Otherwise the same Enter would press a button of the dialog that opens.
    domEvent.preventDefault();
    place.current?.focus();
    onChoose(key);
  };
  return (
    <Dropdown autoFocus trigger={['click']} onOpenChange={setOpen} menu={{ items, onClick: choose }}>
      <Button ref={place} aria-haspopup="menu" aria-expanded={isOpen} {...button} />
    </Dropdown>
  );
}
