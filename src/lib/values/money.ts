// Exact money: whole cents in a bigint, decimal text outside; no floating point.

/** Max amount of a record (docs/api.md, 2): 10^13 units. */
const maximumCents = 10n ** 15n;

/** The same in units. */
export const maxAmount = Number(maximumCents) / 100;

const decimal = /^(-?)(\d{1,30})(?:\.(\d{1,2}))?$/;

export class Money {
  static readonly zero = new Money(0n);

  readonly cents: bigint;

  constructor(cents: bigint) {
    this.cents = cents;
  }

  /** Parses the text of a DECIMAL(…, 2) column, such as "12.30". */
  static from(text: string): Money {
    const match = decimal.exec(text);
    if (!match) throw new RangeError('not a decimal with at most two fraction digits');
    const [, sign, units, fraction = ''] = match;
    const cents = BigInt(units as string) * 100n + BigInt(fraction.padEnd(2, '0'));
    return new Money(sign ? -cents : cents);
  }

  /**
   * Parses an amount of a JSON value: a number or a decimal text.
   *
   * @returns undefined when it is not exact, out of range, or has more than two decimals
   */
  static parse(value: unknown): Money | undefined {
    if (typeof value !== 'number' && typeof value !== 'string') return undefined;
    const text = String(value);
    if (!decimal.test(text)) return undefined;
    const money = Money.from(text);
    return money.cents > maximumCents || money.cents < -maximumCents ? undefined : money;
  }

  plus(other: Money): Money {
    return new Money(this.cents + other.cents);
  }

  minus(other: Money): Money {
    return new Money(this.cents - other.cents);
  }

  times(count: number): Money {
    return new Money(this.cents * BigInt(count));
  }

  equals(other: Money): boolean {
    return this.cents === other.cents;
  }

  get isNegative(): boolean {
    return this.cents < 0n;
  }

  get withinLimit(): boolean {
    return this.cents <= maximumCents;
  }

  /** Always two decimals: "12.30". */
  toString(): string {
    const absolute = this.cents < 0n ? -this.cents : this.cents;
    const text = absolute.toString().padStart(3, '0');
    return `${this.cents < 0n ? '-' : ''}${text.slice(0, -2)}.${text.slice(-2)}`;
  }

  /** The decimal text; `json.ts` writes it as a JSON number with the same digits. */
  toJSON(): string {
    return Money.write ? Money.write(this) : this.toString();
  }

  /** How the running JSON writer marks amounts; set only while it runs. */
  static write: ((money: Money) => string) | undefined;
}
