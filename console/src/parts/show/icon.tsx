// Replaces the library's icon (console/build/stand-ins.ts): a picture beside text is hidden from screen readers,
// which would otherwise read "download Export".
import { createElement, type HTMLAttributes, type ReactElement, type Ref } from 'react';

interface Drawn {
  tag: string;
  attrs: Record<string, string>;
  children?: Drawn[];
}

interface Props extends HTMLAttributes<HTMLSpanElement> {
  icon: { name: string; icon: Drawn };
  spin?: boolean;
  rotate?: number;
  ref?: Ref<HTMLSpanElement>;
}

const attributes = { width: '1em', height: '1em', fill: 'currentColor', 'aria-hidden': true };

const draw = ({ tag, attrs, children = [] }: Drawn, more: object = {}): ReactElement =>
  createElement(tag, { ...camelCased(attrs), ...more }, ...children.map((child) => draw(child)));

const camelCased = ({ class: className, ...attrs }: Record<string, string>) => ({
  ...(className ? { className } : {}),
  ...Object.fromEntries(
    Object.entries(attrs).map(([name, value]) => [
      name.replace(/-(.)/g, (_, one: string) => one.toUpperCase()),
      value,
    ]),
  ),
});

export default function Icon({ icon, spin, rotate, className = '', onClick, ref, ...others }: Props) {
  const { name } = icon;
  const isTurning = spin || name === 'loading';
  const isSilent = !onClick && others['aria-label'] === undefined && others.role === undefined;
  return (
    <span
      {...(isSilent ? { 'aria-hidden': true } : { role: 'img', 'aria-label': name })}
      {...(onClick ? { tabIndex: -1 } : {})}
      {...others}
      ref={ref}
      onClick={onClick}
      className={`anticon anticon-${name} ${isTurning ? 'anticon-spin' : ''} ${className}`}
    >
      {draw(icon.icon, {
        ...attributes,
        'data-icon': name,
        style: rotate ? { transform: `rotate(${rotate}deg)` } : undefined,
      })}
    </span>
  );
}
