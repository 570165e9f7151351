// Asks for a new password when the current one was set by someone else.
import { Button, Card } from 'antd';
import { texts } from '../contract/texts.ts';
import { PasswordForm } from '../parts/form/password-form.tsx';
import { useTitle } from '../parts/show/use-title.ts';

const t = texts({
  title: ['请先设置自己的密码', 'Choose a password of your own first'],
  signOut: ['退出登录', 'Sign out'],
});

export default function FirstPassword({ onDone, onSignOut }: { onDone: () => void; onSignOut: () => void }) {
  useTitle(t.title);
  return (
    <main className="lonely">
      <Card
        title={<h1 className="card-title">{t.title}</h1>}
        extra={<Button onClick={onSignOut}>{t.signOut}</Button>}
      >
        <PasswordForm isAlone onDone={onDone} />
      </Card>
    </main>
  );
}
