// Secrets in a declaration: names of environment variables, never values.

/** Names an environment variable with a secret. The value is read when needed, and never stored. */
export interface Secret {
  /** Marks a secret from the environment, as made by env(). */
  readonly kind: 'env';
  /** Name of the environment variable that holds the secret. */
  readonly name: string;
}

export const isSecret = (value: unknown): value is Secret => {
  const { kind, name } = (value ?? {}) as Partial<Secret>;
  return kind === 'env' && typeof name === 'string' && /^[^=\0]+$/.test(name);
};
