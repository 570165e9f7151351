// Alipay. Its callback and query answer 501 (spec.md, Payment callback, rule 4).
import type { Channel } from './channel.js';

export const alipay: Channel = {
  type: 'alipay',
  configKeys: [
    { name: 'app_id', required: true, secret: false },
    { name: 'private_key', required: true, secret: true },
    { name: 'alipay_public_key', required: false, secret: false },
    { name: 'gateway', required: false, secret: false, url: true },
    { name: 'return_url', required: false, secret: false, url: true },
    { name: 'notify_url', required: false, secret: false, url: true },
  ],
};
