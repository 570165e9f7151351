// /payments/{payment_no}/callbacks: replay of what the channel sent about a payment.
import Joi from 'joi';
import { id, recordNumber } from '../../../lib/input/schema.js';
import { getPayment } from '../../../models/trade/payment.js';
import { oneOf, resource, text } from '../../declare/response.js';
import { can, route } from '../../declare/route.js';
import { callbackRefusals } from '../../flows/callback.js';
import { replayCallback, replayOutcomes } from '../../flows/callback-replay.js';

export const routes = [
  route({
    method: 'POST',
    path: '/payments/{payment_no}/callbacks/{id}/replay',
    name: 'replayPaymentCallback',
    summary: 'Replay a stored callback of a payment',
    description:
      'A refused callback is verified again under the current configuration and then settled like a new one, dated by its ' +
      'first arrival. However often it is replayed, it pays once. If something is still wrong, the answer says what.',
    access: can('payment.replay', '重放支付回调', 'Replay payment callbacks'),
    params: Joi.object<{ payment_no: string; id: number }, true>({
      payment_no: recordNumber(),
      id: id().required(),
    }),
    fails: [
      ...callbackRefusals,
      'payment_callback_not_found',
      'payment_callback_not_whole',
      'payment_record_not_found',
    ],
    response: resource('CallbackReplay', {
      payment_no: text(),
      outcome: oneOf(...replayOutcomes).description(
        '`paid` now; `already_paid` before; `paid_needs_attention`: the money is recorded, but its order could not be paid; ' +
          '`paid_twice`: it was paid under another number before; `processing`: it is stored and will be settled; `noted`: it is genuine and reports no money',
      ),
    }),
    async handle({ params, deadline }) {
      const { payment_no } = await getPayment(params.payment_no);
      return { payment_no, outcome: await replayCallback(payment_no, params.id, deadline) };
    },
  }),
];
