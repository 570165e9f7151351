// Times and bounds that suit every installation: constants, which only tests change.

/** A constant. Tests, that is processes with NODE_ENV=test, change it by a variable of that name. */
export function constant(name: string, value: number): number {
  const changed = process.env.NODE_ENV === 'test' && process.env[name];
  return changed ? Number(changed) : value;
}
