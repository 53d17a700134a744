// Credentials, where to look for them, and the error if there are none.

/** Credentials that sign requests. In memory only: never logged, stored, or part of a message. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Milliseconds since 1970; undefined: they do not expire. */
  readonly expires?: number | undefined;
}

/** Where to look for credentials. */
export interface Search {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A profile that the pipeline names, which is then the only place; undefined: all places. */
  readonly profile: string | undefined;
}

/** No place has credentials, or a place that should have them fails. */
export class CredentialsProblem extends Error {
  readonly hint: string;

  constructor(problem: string, hint: string, options?: ErrorOptions) {
    super(problem, options);
    this.hint = hint;
  }
}

/** True if a text may be in a header. Otherwise an error of Node would quote the secret. */
export const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
