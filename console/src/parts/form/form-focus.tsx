// Where the focus of a form is: at its first control, later at the first field that is wrong.
import type { FormInstance } from 'antd';
import { useEffect, useRef } from 'react';
import type { Fields } from './form-values.ts';

// Enter submits. The focus begins at the first control, not at the frame around the form.
export function FormEnd() {
  const button = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    button.current?.form?.querySelector<HTMLElement>(control)?.focus({ preventScroll: true });
  }, []);
  return <button ref={button} type="submit" hidden tabIndex={-1} aria-hidden />;
}

const control = ':is(input, textarea, [role=switch]):not([disabled], [type=hidden], [type=file])';

/** Before the ids of the controls: a field may have the name of an element of the page, such as `content`. */
export const formId = 'form';

/** Scrolls to a field and puts the focus at its control, or at the first of its controls. */
export function goTo(form: FormInstance, name: (string | number)[]): void {
  form.scrollToField(name, { focus: true });
  const place = document.getElementById([formId, ...name].join('_'));
  if (place && !place.contains(document.activeElement)) place.querySelector<HTMLElement>(control)?.focus();
}

/** Where an error is shown: at the control of that name, or at the one that holds it. */
export function fieldOf(name: string, fields: Fields): string[] {
  const parts = name.split('.');
  return fields[parts[0] ?? '']?.items ? parts : parts.slice(0, 1);
}
