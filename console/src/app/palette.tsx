// Finds screens by name, orders and payments by number, and lists the keyboard shortcuts.
import { Modal, Input, Empty } from 'antd';
import { useState } from 'react';
import { useNavigate } from 'react-router';
import { texts } from '../contract/texts.ts';
import { useProfile } from '../parts/profile.ts';
import { menuScreens } from './menu.tsx';

const t = texts({
  'zh-CN': {
    ...{
      find: '查找页面，或输入订单号、支付单号',
      keys: '快捷键',
      nothing: '没有找到',
      order: '订单',
      payment: '支付',
    },
    list: [
      ['/', '查找'],
      ['Ctrl K', '查找（在输入框中也可以）'],
      ['?', '显示快捷键'],
      ['Ctrl Enter', '保存表单'],
      ['Esc', '关闭'],
    ] as [string, string][],
  },
  'en-US': {
    ...{
      find: 'A page, or the number of an order or payment',
      keys: 'Keys',
      nothing: 'Nothing found',
      order: 'Order',
      payment: 'Payment',
    },
    list: [
      ['/', 'Find'],
      ['Ctrl K', 'Find, also while typing'],
      ['?', 'These keys'],
      ['Ctrl Enter', 'Save a form'],
      ['Esc', 'Close'],
    ] as [string, string][],
  },
});

export default function Palette({ mode, onClose }: { mode: 'find' | 'keys'; onClose: () => void }) {
  return mode === 'keys' ? (
    <Modal open title={t.keys} footer={null} onCancel={onClose} width={360}>
      <dl className="keys">
        {t.list.map(([key, meaning]) => (
          <div key={key}>
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </Modal>
  ) : (
    <Finder onClose={onClose} />
  );
}

const numbered = /^[A-Za-z]{1,4}\d{10,}/;

function Finder({ onClose }: { onClose: () => void }) {
  const { menus } = useProfile();
  const navigate = useNavigate();
  const [typed, setTyped] = useState('');
  const [at, setAt] = useState(0);
  const wanted = typed.trim().toLowerCase();
  const screens = menuScreens(menus).filter(({ title, address }) =>
    `${title} ${address}`.toLowerCase().includes(wanted),
  );
  const numbers = numbered.test(typed.trim())
    ? [
        { title: `${t.order} ${typed.trim()}`, address: `/trade/orders/${encodeURIComponent(typed.trim())}` },
        {
          title: `${t.payment} ${typed.trim()}`,
          address: `/trade/payments/${encodeURIComponent(typed.trim())}`,
        },
      ]
    : [];
  const found = [...numbers, ...screens];
  const go = (address: string | undefined) => {
    if (!address) return;
    onClose();
    void navigate(address);
  };
  const press = ({ key }: React.KeyboardEvent) => {
    if (key === 'ArrowDown') setAt((before) => Math.min(before + 1, found.length - 1));
    else if (key === 'ArrowUp') setAt((before) => Math.max(before - 1, 0));
    else if (key === 'Enter') go(found[at]?.address);
  };
  return (
    <Modal
      open
      footer={null}
      closable={false}
      onCancel={onClose}
      width={520}
      className="palette"
      title={<span className="unseen">{t.find}</span>}
    >
      <Input
        autoFocus
        size="large"
        aria-label={t.find}
        placeholder={t.find}
        value={typed}
        onChange={({ target }) => {
          setTyped(target.value);
          setAt(0);
        }}
        onKeyDown={press}
      />
      <ul className="found">
        {found.map(({ title, address }, index) => (
          <li key={address}>
            <button type="button" className={index === at ? 'chosen' : ''} onClick={() => go(address)}>
              {title}
            </button>
          </li>
        ))}
      </ul>
      {found.length === 0 && <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t.nothing} />}
    </Modal>
  );
}
