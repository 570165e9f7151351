// The configuration of a payment channel: a control for each key the API declares for its type.
import { Form, Input } from 'antd';
import { channels, type ChannelKey } from '../contract/generated/channels.ts';
import { read, texts, type Both } from '../contract/texts.ts';
import type { Field } from '../parts/form/fields.tsx';
import type { AnyRow } from '../parts/resource.ts';

const t = texts({
  needed: ['必填', 'Required'],
  kept: ['已设置；留空则不修改', 'Is set; leave empty to keep it'],
  first: ['请先选择类型', 'Choose a type first'],
});

/** Labels of known keys, of a type before those of all; others show the text of the document. */
const labels: Readonly<Record<string, Both>> = {
  app_id: ['应用 APPID', 'APPID'],
  mch_id: ['商户号', 'Merchant ID'],
  api_v3_key: ['APIv3 密钥', 'APIv3 key'],
  cert_serial_no: ['商户证书序列号', 'Serial number of the merchant certificate'],
  private_key: ['商户私钥（PEM）', 'Merchant private key (PEM)'],
  'alipay.private_key': ['应用私钥（PEM）', 'Application private key (PEM)'],
  platform_public_key: ['微信支付公钥（PEM）', 'WeChat Pay public key (PEM)'],
  platform_public_key_id: ['微信支付公钥 ID', 'WeChat Pay public key ID'],
  alipay_public_key: ['支付宝公钥（PEM）', 'Alipay public key (PEM)'],
  seller_id: ['卖家支付宝用户号（2088…）；填写后核对回调', 'Seller ID (2088…; compared when set)'],
  openid: ['付款人 openid；填写后使用 JSAPI 支付', 'Payer openid (pays by JSAPI when set)'],
  gateway: ['网关地址；留空使用官方地址', 'Gateway URL (optional)'],
  notify_url: ['回调地址；留空使用本服务', 'Callback URL (optional)'],
  return_url: ['付款后返回的地址', 'Return URL after payment'],
  shared_secret: ['签名密钥', 'Signing secret'],
};

type Config = Record<string, string | undefined>;

/** Of a type of the API; none for one that is not known here. */
const keysOf = (type: string): readonly ChannelKey[] =>
  Object.hasOwn(channels, type) ? (channels[type] ?? []) : [];

const isSecretOf = (type: string, name: string): boolean =>
  keysOf(type).some((key) => key.name === name && key.isSecret);

const anySecret = (name: string): boolean => Object.keys(channels).some((type) => isSecretOf(type, name));

/** Secrets are write-only: an empty one stays unchanged. */
const withoutSecrets = (config: unknown): Config =>
  Object.fromEntries(Object.entries((config ?? {}) as Config).filter(([name]) => !anySecret(name)));

export const channelConfig = (): Field<Config> => ({
  control: () => null,
  from: ({ config }) => withoutSecrets(config),
  withoutSecrets,
  items: ({ name, row }) => <Keys name={name} row={row} />,
});

function Keys({ name, row }: { name: string; row: AnyRow | undefined }) {
  const chosen = Form.useWatch<string | undefined>('type');
  const type = (row?.type as string | undefined) ?? chosen;
  if (!type) return <p className="soft">{t.first}</p>;
  const known = (row?.config ?? {}) as Config;
  return keysOf(type).map((key) => (
    <Form.Item
      // A key that two types have keeps its control: one that is mounted anew would show what preserve takes away.
      key={key.name}
      name={[name, key.name]}
      label={keyName(type, key.name) ?? key.description}
      // Keys of another type are not sent.
      preserve={false}
      normalize={(text: string) => (text === '' && !row ? undefined : text)}
      rules={[
        { required: key.isRequired && known[key.name] === undefined, message: t.needed },
        ...(key.max ? [{ max: key.max }] : []),
      ]}
    >
      <KeyInput of={key} isSet={known[key.name] !== undefined} />
    </Form.Item>
  ));
}

/** Undefined when it is not known here. */
export const keyName = (type: string, name: string): string | undefined => {
  const known = [`${type}.${name}`, name].find((one) => Object.hasOwn(labels, one));
  return known && read(labels[known] as Both);
};

// Form.Item passes id, value and onChange to its child.
function KeyInput({ of: { isSecret, isPem }, isSet, ...props }: { of: ChannelKey; isSet: boolean }) {
  const placeholder = isSecret && isSet ? t.kept : undefined;
  if (isPem) return <Input.TextArea {...props} rows={4} placeholder={placeholder} spellCheck={false} />;
  if (!isSecret) return <Input {...props} />;
  return <Input.Password {...props} autoComplete="new-password" placeholder={placeholder} />;
}
