// A typed text, once it has not changed for a moment.
import { useEffect, useState } from 'react';

const typingMs = 200;

export function useSettled(text: string): string {
  const [settled, setSettled] = useState(text);
  useEffect(() => {
    const timer = setTimeout(() => setSettled(text), typingMs);
    return () => clearTimeout(timer);
  }, [text]);
  return settled;
}
