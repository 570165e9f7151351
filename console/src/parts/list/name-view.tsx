// Asks for the name of a view that is saved or renamed.
import { Input, Modal } from 'antd';
import { useState } from 'react';
import { texts } from '../../contract/texts.ts';
import { isOfInputMethod } from '../show/typed.ts';
import { useReturnFocus } from '../show/focus.ts';

const t = texts({
  name: ['视图名称', 'Name of the view'],
  keep: ['保存', 'Save'],
  cancel: ['取消', 'Cancel'],
});

interface Props {
  title: string;
  /** The name it has. */
  name: string;
  onSave: (name: string) => void;
  onClose: () => void;
}

export default function NameView({ title, name: old, onSave, onClose }: Props) {
  const [typed, setTyped] = useState(old);
  useReturnFocus(false);
  const name = typed.trim();
  const save = () => name && onSave(name);
  return (
    <Modal
      open
      title={title}
      okText={t.keep}
      cancelText={t.cancel}
      okButtonProps={{ disabled: !name }}
      width={360}
      onOk={save}
      onCancel={onClose}
    >
      <Input
        autoFocus
        aria-label={t.name}
        placeholder={t.name}
        maxLength={60}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
        onPressEnter={({ nativeEvent }) => {
          if (!isOfInputMethod(nativeEvent)) save();
        }}
      />
    </Modal>
  );
}
