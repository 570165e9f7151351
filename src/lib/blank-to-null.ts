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
