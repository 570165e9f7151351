// What is typed or pasted to look for.

/** In one piece when it is a number of an order, payment or refund that was pasted with spaces, or its end as lists show it. */
export function pasted(text: string): string {
  const whole = text.replace(/[\s…]/g, '');
  return /^(ORD|PAY|REF)\d{6}/i.test(whole) || /^\s*…/.test(text) ? whole : text.trim();
}
