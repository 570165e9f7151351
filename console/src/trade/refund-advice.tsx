// What to do about a refund that needs attention, above its fields.
import { Alert } from 'antd';
import { adviceFor, meaningOf } from './verdicts.ts';

interface Props {
  row: { needs_attention: boolean; fail_reason: string | null };
}

export function RefundAdvice({ row: { needs_attention, fail_reason } }: Props) {
  if (!needs_attention || !fail_reason) return null;
  return (
    <Alert
      className="drawer-lead"
      type="warning"
      showIcon
      title={meaningOf(fail_reason)}
      description={adviceFor(fail_reason)}
    />
  );
}
