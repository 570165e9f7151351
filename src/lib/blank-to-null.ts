// What an emptied field of a form means to the database.

/** Empty texts clear a field; a cleared field is NULL. */
export function blankToNull<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === '' ? null : value]),
  ) as T;
}
