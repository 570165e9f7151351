// WeChat Pay API v3. Its callback and query answer 501 (spec.md, Payment callback, rule 4).
import type { Channel } from './channel.js';

export const wechat: Channel = {
  type: 'wechat',
  configKeys: [
    { name: 'app_id', required: true, secret: false },
    { name: 'mch_id', required: true, secret: false },
    { name: 'api_v3_key', required: true, secret: true },
    { name: 'cert_serial_no', required: true, secret: false },
    { name: 'private_key', required: true, secret: true },
    { name: 'openid', required: false, secret: false },
    { name: 'notify_url', required: false, secret: false, url: true },
  ],
};
