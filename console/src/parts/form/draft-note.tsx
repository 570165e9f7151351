// Says that a draft is back, and offers to discard it.
import { Alert, Button } from 'antd';
import { texts } from '../../contract/texts.ts';

const t = texts({
  back: ['已恢复上次未保存的内容', 'Your unsaved changes are back'],
  discard: ['放弃', 'Discard'],
});

export function DraftNote({ onDiscard }: { onDiscard: () => void }) {
  return (
    <Alert
      type="info"
      className="form-failure"
      title={t.back}
      action={
        <Button size="small" onClick={onDiscard}>
          {t.discard}
        </Button>
      }
    />
  );
}
