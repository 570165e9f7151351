// What an emptied field of a form means to the database.

/** Empty texts clear a field; a cleared field is NULL. */
export function blankToNull<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === '' ? null : value]),
  ) as T;
}

/** A reference that a form leaves open, as 0 or an empty text, refers to nothing. */
export function noneToNull<T extends object, K extends keyof T>(fields: T, name: K): T {
  return fields[name] === undefined ? fields : { ...fields, [name]: fields[name] || null };
}

/** The same where the database keeps 0 for it: the parent of what stands at the top of a tree. */
export function noneToZero<T extends { parent_id?: number }>(fields: T): T {
  return fields.parent_id === undefined ? fields : { ...fields, parent_id: fields.parent_id || 0 };
}
