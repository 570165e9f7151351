// The error that carries an outcome of the catalogue to the caller.
import { fill, type Language } from '../values/language.js';
import { errorCatalogue, type ErrorSlug } from './catalogue.js';

export type FieldErrors = Record<string, string[]>;

interface ErrorDetails {
  /** Values for the `{name}` placeholders of the text. */
  params?: Record<string, string | number>;
  /** Field → texts, already in the caller's language. */
  fields?: FieldErrors;
  /** The field the error is about; the catalogue text becomes its text. */
  field?: string;
  /** Seconds until a retry makes sense; becomes the header Retry-After. */
  retryAfter?: number;
  cause?: unknown;
}

export class AppError extends Error {
  readonly slug: ErrorSlug;
  readonly details: ErrorDetails;

  constructor(slug: ErrorSlug, details: ErrorDetails = {}) {
    super(slug, { cause: details.cause });
    this.slug = slug;
    this.details = details;
  }

  get status(): number {
    return errorCatalogue[this.slug].status;
  }

  get code(): number {
    return errorCatalogue[this.slug].code;
  }

  /** The catalogue text in that language. */
  text(language: Language): string {
    const { zh, en } = errorCatalogue[this.slug];
    return fill(language === 'en-US' ? en : zh, this.details.params);
  }

  /** The `errors` member of the answer, if the error is about fields. */
  fieldTexts(language: Language): FieldErrors | undefined {
    if (this.details.fields) return this.details.fields;
    return this.details.field ? { [this.details.field]: [this.text(language)] } : undefined;
  }
}

/** Throws the outcome with that slug. */
export function fail(slug: ErrorSlug, details?: ErrorDetails): never {
  throw new AppError(slug, details);
}
