// Panels that slide in from the side: the menu on a phone, notifications.
import { Drawer } from 'antd';
import type { ReactNode } from 'react';
import { useReturnFocus } from '../parts/show/focus.ts';

interface Props {
  title: string;
  place: 'left' | 'right';
  extra?: ReactNode;
  footer?: ReactNode;
  onClose: () => void;
  children: ReactNode;
}

export default function Side({ title, place, extra, footer, onClose, children }: Props) {
  useReturnFocus(false);
  return (
    <Drawer
      open
      placement={place}
      size={place === 'left' ? 260 : 420}
      title={title}
      extra={extra}
      footer={footer}
      onClose={onClose}
      className={place === 'left' ? 'menu-drawer' : undefined}
    >
      {children}
    </Drawer>
  );
}
