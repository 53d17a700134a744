// AWS credentials, and where to look for them.

/** In memory only: never logged, stored, or part of a message. */
export interface Credentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  /** Milliseconds since 1970. */
  readonly expires?: number | undefined;
}

export interface Search {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** If a profile is named, no other place is searched. */
  readonly profile: string | undefined;
}

export class CredentialsProblem extends Error {
  readonly hint: string;

  constructor(problem: string, hint: string, options?: ErrorOptions) {
    super(problem, options);
    this.hint = hint;
  }
}

/** True if a header can have the text. For other texts, Node's error would quote the secret. */
export const isPrintable = (text: string): boolean => /^[\x20-\x7e]*$/.test(text);
