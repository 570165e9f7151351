// What a new password must be, said beforehand; who keeps to it is never refused.
import type { Both } from '../../contract/texts.ts';

export const passwordRules: Both = [
  '8 至 64 位，同时包含字母和数字，不能是常见密码，也不能与用户名相同',
  '8 to 64 characters with letters and digits; not a common password, not the username',
];
