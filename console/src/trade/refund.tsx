// Refunds a payment: how much of what is left, where to, and why.
import { useQueryClient } from '@tanstack/react-query';
import { UndoOutlined } from '@ant-design/icons';
import { Button } from 'antd';
import { texts, type Both } from '../contract/texts.ts';
import { amount, choice, words } from '../parts/form/fields.tsx';
import { FormDrawer } from '../parts/form/form-drawer.tsx';
import { formName, useFormOpen } from '../parts/form/open-form.ts';
import { keepFocus } from '../parts/show/focus.ts';
import { showAmount } from '../parts/show/money.ts';
import { answers, useProfile } from '../parts/show/profile.ts';
import { destinations } from '../parts/show/trade-states.ts';
import type { Payment } from './story.tsx';

const t = texts({
  refund: ['退款', 'Refund'],
  title: [(left: string) => `退款 · 最多 ${left}`, (left) => `Refund · up to ${left}`],
});

const labels = {
  amount: ['金额', 'Amount'],
  destination: ['退款去向', 'Refund to'],
  reason: ['退款原因', 'Reason'],
} as const;

/** Said before, so that no refund waits unexpectedly. */
const approval = (above: string): Both => [
  `该支付的退款合计超过 ${showAmount(above)} 时，需要另一位管理员批准`,
  `Above ${showAmount(above)} in all refunds of the payment, another administrator has to approve`,
];

const route = 'POST /api/admin/refunds';

export function Refund({ payment }: { payment: Payment }) {
  const { payment_no, refundable } = payment;
  const fixed = { payment_no };
  const [isOpen, setOpen] = useFormOpen(formName(route, undefined, fixed));
  const profile = useProfile();
  const { refund_approval_above: above } = profile.config;
  const client = useQueryClient();
  return (
    <>
      {Number(refundable) > 0 && (
        <Button icon={<UndoOutlined />} onClick={() => setOpen(true)}>
          {t.refund}
        </Button>
      )}
      {isOpen && (
        <FormDrawer
          title={t.title(showAmount(refundable))}
          route={route}
          submit={t.refund}
          fields={{
            amount: {
              ...amount(),
              isRequired: true,
              initial: refundable,
              hint: above === null ? undefined : approval(above),
            },
            destination: answers(profile, payment)
              ? { ...choice(destinations), initial: 'channel' }
              : { ...choice({ balance: destinations.balance }), initial: 'balance' },
            reason: words(),
          }}
          labelOf={(name) => labels[name as keyof typeof labels]}
          fixed={fixed}
          onClose={() => setOpen(false)}
          onDone={() => {
            setOpen(false);
            // The button goes once nothing is left.
            void client.invalidateQueries().then(keepFocus);
          }}
        />
      )}
    </>
  );
}
