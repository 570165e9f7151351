// Asks for a new password when the current one was set by someone else.
import { Button, Card } from 'antd';
import { texts } from '../contract/texts.ts';
import { PasswordForm } from '../parts/password-form.tsx';

const t = texts({
  'zh-CN': { title: '请先设置自己的密码', leave: '退出登录' },
  'en-US': { title: 'Choose a password of your own first', leave: 'Sign out' },
});

export default function FirstPassword({ onDone, onLeave }: { onDone: () => void; onLeave: () => void }) {
  return (
    <main className="lonely">
      <Card
        title={<h1 className="card-title">{t.title}</h1>}
        extra={<Button onClick={onLeave}>{t.leave}</Button>}
      >
        <PasswordForm onDone={onDone} />
      </Card>
    </main>
  );
}
