// Sets the window title.
import { useEffect } from 'react';

export function useTitle(title: string): void {
  useEffect(() => {
    document.title = title;
  }, [title]);
}
