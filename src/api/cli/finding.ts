// What a check of the doctor finds.

export interface Finding {
  level: 'ok' | 'warning' | 'fault';
  says: string;
}

export const ok = (says: string): Finding => ({ level: 'ok', says });
export const warning = (says: string): Finding => ({ level: 'warning', says });
export const fault = (says: string): Finding => ({ level: 'fault', says });
