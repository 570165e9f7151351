// Pays an order: choose a method; the channel returns what the customer needs to continue.
import { CreditCardOutlined } from '@ant-design/icons';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Alert, Button, Drawer, Flex, QRCode } from 'antd';
import { useEffect, useState } from 'react';
import { Link } from 'react-router';
import { call } from '../contract/api.ts';
import { texts } from '../contract/texts.ts';
import { Copyable } from '../parts/show/copyable.tsx';
import { note, option } from '../parts/form/fields.tsx';
import { FormDrawer } from '../parts/form/form-drawer.tsx';
import { formName, useFormOpen } from '../parts/form/open-form.ts';
import { showAmount } from '../parts/show/money.ts';
import { Problem } from '../parts/show/problem.tsx';
import { useMay } from '../parts/show/profile.ts';
import { keepFocus, useReturnFocus } from '../parts/show/focus.ts';

const t = texts({
  title: ['发起支付', 'Start payment'],
  scan: ['请顾客用微信扫码', 'Ask the customer to scan this with WeChat'],
  open: ['打开支付宝页面', 'Open the Alipay page'],
  mock: [
    '这是模拟渠道：没有真实付款，可以在这里发送它的回调',
    'Mock channel: no real payment. You can send its callback from here',
  ],
  simulate: ['模拟支付成功', 'Simulate payment'],
  sent: ['回调已发送，状态会自动更新', 'Callback sent; the status updates by itself'],
  show: ['查看支付', 'View payment'],
  unsigned: [
    '该支付方式没有可显示的密钥，回调将不带签名',
    'The signing secret is hidden, so the callback is sent unsigned',
  ],
});

/** The results of all channels. */
export interface Gateway {
  code_url?: string;
  pay_url?: string;
  gateway?: string;
  notify_url?: string;
  trade_status?: string;
  sign?: string;
}

const labels = {
  payment_method_id: ['支付方式', 'Payment method'],
  remark: ['备注', 'Note'],
} as const;

interface Payable {
  order_no: string;
  amount: string;
}

const route = 'POST /api/admin/payments';
const fixedOf = ({ order_no }: Payable) => ({ order_no, initiate: true });

/** @param canStart an open drawer stays when the order is paid meanwhile */
export function Pay({ order, canStart }: { order: Payable; canStart: boolean }) {
  const [isOpen, setOpen] = useFormOpen(formName(route, undefined, fixedOf(order)));
  return (
    <>
      {canStart && (
        <Button type="primary" icon={<CreditCardOutlined />} onClick={() => setOpen(true)}>
          {t.title}
        </Button>
      )}
      {isOpen && <PayDrawer order={order} onClose={() => setOpen(false)} />}
    </>
  );
}

function PayDrawer({ order, onClose }: { order: Payable; onClose: () => void }) {
  const [placed, setPlaced] = useState<{ payment_no: string; gateway?: Gateway }>();
  const client = useQueryClient();
  const may = useMay();
  useReturnFocus(false);
  if (!placed) {
    return (
      <FormDrawer
        title={`${t.title} · ${showAmount(order.amount)} · ${order.order_no}`}
        route={route}
        submit={t.title}
        fields={{ payment_method_id: option('payment_method'), remark: note() }}
        labelOf={(name) => labels[name as keyof typeof labels]}
        fixed={fixedOf(order)}
        onClose={onClose}
        onDone={(answer) => {
          setPlaced(answer as unknown as { payment_no: string; gateway?: Gateway });
          void client.invalidateQueries();
        }}
      />
    );
  }
  return (
    <Drawer open title={placed.payment_no} size={420} onClose={onClose}>
      <Flex vertical gap={16}>
        <GatewayAnswer paymentNo={placed.payment_no} gateway={placed.gateway ?? {}} />
        {may('GET /api/admin/payments/{id}') && (
          <Link to={`/trade/payments/${placed.payment_no}`}>{t.show}</Link>
        )}
      </Flex>
    </Drawer>
  );
}

/** What the customer needs, or how to simulate the payment. */
export function GatewayAnswer({ paymentNo, gateway }: { paymentNo: string; gateway: Gateway }) {
  if (gateway.code_url) {
    return (
      <div className="qr">
        <span role="img" aria-label={t.scan}>
          <QRCode value={gateway.code_url} size={200} bgColor="#ffffff" color="#000000" type="svg" />
        </span>
        <span>{t.scan}</span>
        <Copyable value={gateway.code_url} />
      </div>
    );
  }
  if (gateway.pay_url) {
    return (
      <a href={gateway.pay_url} target="_blank" rel="noopener noreferrer">
        {t.open}
      </a>
    );
  }
  return gateway.gateway === 'mock' ? <Simulation paymentNo={paymentNo} gateway={gateway} /> : null;
}

function Simulation({ paymentNo, gateway }: { paymentNo: string; gateway: Gateway }) {
  const client = useQueryClient();
  const send = useMutation({
    mutationFn: () =>
      call('POST /api/payment/notify/{type}', {
        path: { type: 'mock' },
        body: { out_trade_no: paymentNo, trade_status: gateway.trade_status, sign: gateway.sign } as never,
      }),
    onSuccess: () => client.invalidateQueries(),
  });
  const { isSuccess } = send;
  // The button is gone.
  useEffect(() => {
    if (isSuccess) keepFocus();
  }, [isSuccess]);
  return (
    <Flex vertical gap={12} align="start">
      <Alert type="info" title={t.mock} description={gateway.sign ? undefined : t.unsigned} />
      {send.error && <Problem error={send.error} />}
      {isSuccess ? (
        <Alert type="success" role="status" title={t.sent} />
      ) : (
        <Button type="primary" loading={send.isPending} onClick={() => send.mutate()}>
          {t.simulate}
        </Button>
      )}
    </Flex>
  );
}
