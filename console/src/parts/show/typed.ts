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

/** Without spaces, if it is a number of an order, payment or refund, or the end of one as lists show it. */
export function pasted(text: string): string {
  const whole = text.replace(/[\s…]/g, '');
  return /^(ORD|PAY|REF)\d{6}/i.test(whole) || /^\s*…/.test(text) ? whole : text.trim();
}

/**
 * Whether a key belongs to an input method, which takes Enter and arrows for itself. In Safari the key that ends the
 * composition comes after its end; it has the code 229, as all keys that an input method takes.
 */
export const isOfInputMethod = ({ isComposing, keyCode }: KeyboardEvent): boolean =>
  isComposing || keyCode === 229;
