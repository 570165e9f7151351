// What is typed or pasted to look for.
import { useEffect, useState } from 'react';

const typingMs = 200;

/** The text, once it has not changed for a moment. */
export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}

/** In one piece when it is a number of an order, payment or refund that was pasted with spaces, or its end as lists show it. */
export function pasted(text: string): string {
  const whole = text.replace(/[\s…]/g, '');
  return /^(ORD|PAY|REF)\d{6}/i.test(whole) || /^\s*…/.test(text) ? whole : text.trim();
}

/**
 * Whether a key belongs to an input method, which takes Enter and arrows for itself. Safari ends the composition before
 * the key that does so: that key has the code of all keys that are taken.
 */
export const isOfInputMethod = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;
