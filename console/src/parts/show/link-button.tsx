// A link that looks like a button: one focusable element that opens in another tab as links do.
import { Button, type ButtonProps } from 'antd';
import type { MouseEvent } from 'react';
import { useHref, useLinkClickHandler } from 'react-router';

export interface LinkButtonProps extends Omit<ButtonProps, 'href' | 'onClick'> {
  to: string;
  /** Whether the page it leads to takes the place of this one in the history. */
  replace?: boolean;
  /** Called before the link is followed; may prevent it. */
  onPress?: (event: MouseEvent) => void;
}

export function LinkButton({ to, replace, onPress, ...props }: LinkButtonProps) {
  const href = useHref(to);
  const go = useLinkClickHandler<HTMLAnchorElement>(to, { replace });
  return (
    <Button
      {...props}
      href={href}
      onClick={(event) => {
        onPress?.(event);
        if (!event.defaultPrevented) go(event as MouseEvent<HTMLAnchorElement>);
      }}
    />
  );
}
