// What credentials are, where they are looked for, and the error of a place that has none to give.

/** What signs a request. Held in memory only: never logged, stored, or part of a message. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Milliseconds since 1970; undefined: they do not expire. */
  readonly expires?: number | undefined;
}

/** Where to look. */
export interface Search {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A profile that the pipeline names: only it is looked at. */
  readonly profile: string | undefined;
}

/** Credentials cannot be had: from a place that should have them, or from any. */
export class CredentialsProblem extends Error {
  readonly hint: string;

  constructor(problem: string, hint: string, options?: ErrorOptions) {
    super(problem, options);
    this.hint = hint;
  }
}

/** Whether a text may be in a header: the error of one that may not would quote it. */
export const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
