// Emptied form fields as database values.

/** Empty texts become NULL. */
export function blankToNull<T extends object>(fields: T): T {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, value === '' ? null : value]),
  ) as T;
}

/** A reference sent as 0 or an empty text becomes NULL. */
export function noneToNull<T extends object, K extends keyof T>(fields: T, name: K): T {
  return fields[name] === undefined ? fields : { ...fields, [name]: fields[name] || null };
}

/** The same for parent_id, where the database stores 0 for none. */
export function noneToZero<T extends { parent_id?: number }>(fields: T): T {
  return fields.parent_id === undefined ? fields : { ...fields, parent_id: fields.parent_id || 0 };
}
