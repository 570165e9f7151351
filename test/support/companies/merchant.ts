// The merchant of both payment companies, and configurations that pass their checks; nothing listens at their gateways.
import { newRsaKeys } from './rsa-keys.js';

/** The service's key at both companies; forging companies sign with it, too. */
export const merchantKeys = newRsaKeys();

export const wechatConfig = {
  app_id: 'wx123',
  mch_id: '1900000001',
  api_v3_key: 'canary-api-v3-key-of-32-letters-',
  cert_serial_no: '5157F09EFDC096DE',
  private_key: merchantKeys.privatePem,
};

export const alipayConfig = { app_id: '2021', private_key: merchantKeys.privatePem };

/** A line of the private key, which may show up nowhere. */
export const privateLine = merchantKeys.privatePem.split('\n')[5] as string;
