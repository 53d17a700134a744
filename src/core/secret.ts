// Secrets in a declaration: names of environment variables, never values.

/** Names an environment variable with a secret. The value is read when needed, and never stored. */
export interface Secret {
  readonly kind: 'env';
  readonly name: string;
}

export const isSecret = (value: unknown): value is Secret => {
  const { kind, name } = (value ?? {}) as Partial<Secret>;
  return kind === 'env' && typeof name === 'string' && /^[^=\0]+$/.test(name);
};
