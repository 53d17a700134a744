// Secrets as a declaration holds them: names of environment variables, never values.

/** The name of an environment variable that holds a secret. Its value is read where it is used and is kept nowhere. */
export interface Secret {
  readonly kind: 'env';
  readonly name: string;
}

export const isSecret = (value: unknown): value is Secret => {
  const { kind, name } = (value ?? {}) as Partial<Secret>;
  return kind === 'env' && typeof name === 'string' && /^[^=\0]+$/.test(name);
};
