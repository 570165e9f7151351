// What a form checks before it calls: the contract, and what a field adds.
import type { Route } from '../../contract/api.ts';
import { bodies } from '../../contract/generated/bodies.ts';
import { texts } from '../../contract/texts.ts';
import type { Field } from './fields.tsx';

const t = texts({
  needed: ['必填', 'Required'],
});

/** What a body needs; of a change also what a new record needs, which may not be emptied. */
function requiredIn(route: Route): readonly string[] {
  const creation = route.replace(/^PUT (.+)\/\{id\}$/, 'POST $1');
  return [...(bodies[route]?.required ?? []), ...(bodies[creation]?.required ?? [])];
}

/** The rules of a field for the library. */
export function rulesOf(route: Route, name: string, field: Field) {
  const { max = {} } = bodies[route] ?? {};
  const required = requiredIn(route);
  const validator =
    (check: Field['problem'] & {}) =>
    (_: unknown, value: unknown): Promise<void> => {
      const problem = check(value);
      return problem ? Promise.reject(new Error(problem)) : Promise.resolve();
    };
  return [
    { required: field.isRequired || required.includes(name), message: t.needed },
    ...(field.isRequired ? [{ whitespace: true, message: t.needed }] : []),
    ...(max[name] ? [{ max: max[name] }] : []),
    ...(field.problem ? [{ validator: validator(field.problem) }] : []),
    ...(field.missing ? [{ validator: validator(field.missing), validateTrigger: 'onSubmit' }] : []),
  ];
}
