// /payment-methods: the configured channels.
import Joi from 'joi';
import type { MethodConfig } from '../../../lib/channels/channel.js';
import { channelOf, isEnabled } from '../../../lib/channels/index.js';
import { fail } from '../../../lib/errors/app-error.js';
import {
  documentedAs,
  nonEmptyText,
  optionalMultiline,
  optionalText,
  slug,
  sort,
} from '../../../lib/input/schema.js';
import {
  createMethod,
  deleteMethod,
  getMethod,
  listMethods,
  methodQuery,
  updateMethod,
  type MethodFields,
} from '../../../models/trade/payment-method.js';
import { PaymentMethod } from '../../../models/trade/tables.js';
import { flag, keysOf, pageOf } from '../../declare/response.js';
import {
  changedConfig,
  describeKeys,
  methodOf,
  methodTest,
  newMethodOf,
} from '../../declare/channel-schemas.js';
import { can, companyDeadlineMs, route } from '../../declare/route.js';
import { testMethod } from '../../flows/method-test.js';

type MethodBody = Omit<MethodFields, 'type'> & { shared_secret?: string | null };

const method = methodOf({
  ...keysOf(PaymentMethod),
  has_shared_secret: flag(),
  in_use: flag(),
});

const fields = {
  name: nonEmptyText(50),
  code: slug(50),
  config: documentedAs(
    Joi.object().pattern(Joi.string(), Joi.string().allow('').max(8000)).max(30),
    changedConfig(),
  ),
  shared_secret: optionalText(200),
  is_active: Joi.boolean(),
  sort: sort(),
  description: optionalMultiline(255),
};

const secretsNote =
  'Secrets are stored encrypted and returned as `***`; sending `***` back leaves them as they are.';

export const routes = [
  route('GET', '/payment-methods', {
    name: 'listPaymentMethods',
    summary: 'List payment methods',
    access: can('payment_method.index', '查看支付方式列表', 'List payment methods'),
    query: methodQuery,
    response: pageOf(method),
    handle: ({ query }) => listMethods(query),
  }),
  route('POST', '/payment-methods', {
    name: 'createPaymentMethod',
    summary: 'Create a payment method',
    description: `${secretsNote} Keys of \`config\`, others are refused: ${describeKeys()}.`,
    access: can('payment_method.store', '创建支付方式', 'Create payment methods'),
    body: documentedAs(
      Joi.object<MethodBody & { type: string }, true>({
        ...fields,
        type: Joi.string().min(1).max(20).required(),
      }),
      newMethodOf(fields),
    ),
    fails: [
      'payment_gateway_disabled',
      'payment_gateway_unknown',
      'payment_method_code_exists',
      'payment_method_not_found',
    ],
    response: method,
    async handle({ body: { shared_secret, config, ...body } }) {
      if (channelOf(body.type) && !isEnabled(body.type)) fail('payment_gateway_disabled');
      const id = await createMethod({ ...body, config: withSecret(config, shared_secret) });
      return getMethod(id);
    },
    repeat: (id) => getMethod(id),
  }),
  route('GET', '/payment-methods/{id}', {
    name: 'showPaymentMethod',
    summary: 'Show a payment method',
    access: can('payment_method.show', '查看支付方式', 'Show payment methods'),
    fails: ['payment_method_not_found'],
    response: method,
    handle: ({ params }) => getMethod(params.id),
  }),
  route('PUT', '/payment-methods/{id}', {
    name: 'updatePaymentMethod',
    summary: 'Change a payment method',
    description: `Only the fields and configuration keys sent change; an empty text removes a key. The type is fixed, and so are merchant, application and gateway while payments or refunds are open at the company. ${secretsNote}`,
    access: can('payment_method.update', '修改支付方式', 'Change payment methods'),
    body: Joi.object<MethodBody, true>(fields),
    fails: [
      'payment_gateway_unknown',
      'payment_method_account_in_use',
      'payment_method_code_exists',
      'payment_method_not_found',
    ],
    response: method,
    subject: ({ params }, t) => getMethod(params.id, t),
    async handle({ params: { id }, body: { shared_secret, config, ...body } }) {
      await updateMethod(id, { ...body, config: withSecret(config, shared_secret) });
      return getMethod(id);
    },
  }),
  route('DELETE', '/payment-methods/{id}', {
    name: 'deletePaymentMethod',
    summary: 'Delete a payment method that no payment uses',
    access: can('payment_method.destroy', '删除支付方式', 'Delete payment methods'),
    fails: ['payment_method_in_use', 'payment_method_not_found'],
    subject: ({ params }, t) => getMethod(params.id, t),
    handle: ({ params }) => deleteMethod(params.id),
  }),
  route('POST', '/payment-methods/{id}/test', {
    name: 'testPaymentMethod',
    summary: 'Test a payment method without a payment',
    description:
      'Tries each stored key: signs or encrypts with it and verifies the result. Then signs a test callback with these keys, ' +
      'verifies it as a real one (`accepted`, `verdict`), and sends it to the public notify URL, which this service must ' +
      'answer. The payment number of the callback does not exist: nothing is paid. While wechat and alipay are not opened by ' +
      'PAYMENT_CHANNEL_RESULTS their verdict is `payment_gateway_not_implemented`. Once they are, only the payment company ' +
      'can sign a callback, so the verdict on a complete method is `payment_sign_invalid`.',
    access: can('payment_method.test', '测试支付方式', 'Test payment methods'),
    isLogged: false,
    deadlineMs: companyDeadlineMs,
    fails: ['payment_gateway_unknown', 'payment_method_not_found'],
    response: methodTest,
    handle: ({ params }) => testMethod(params.id),
  }),
];

// The shared secret may be at the top level or in the configuration.
function withSecret(
  config: MethodConfig | undefined,
  secret: string | null | undefined,
): MethodConfig | undefined {
  return secret === undefined ? config : { ...config, shared_secret: secret ?? '' };
}
