// A form loaded on demand: most visits of a list open none.
import { lazy, Suspense } from 'react';
import { Guard } from '../show/guard.tsx';
import { Opening } from '../show/opening.tsx';
import type { FormProps } from './form.tsx';

const Form = lazy(() => import('./form.tsx'));

export function FormDrawer(props: FormProps) {
  return (
    <Guard place="drawer" of={props.row}>
      <Suspense fallback={<Opening />}>
        <Form {...props} />
      </Suspense>
    </Guard>
  );
}
