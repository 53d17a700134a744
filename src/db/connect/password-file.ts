// PGPASSFILE and ~/.pgpass. node-postgres reads them, too, but warns each time that it will stop doing so.

interface Wanted {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
}

type ReadPasswordFile = (wanted: Wanted, found: (password: string | undefined) => void) => void;

/** Called by node-postgres when the server wants a password and none was given. Errors: one with code 28P01. */
export const passwordFromFile = async (wanted: Wanted): Promise<string> => {
  // Loaded late: most connections have their password.
  // @ts-expect-error: it has no types
  const { default: read } = (await import('pgpass')) as { default: ReadPasswordFile };
  const password = await new Promise<string | undefined>((resolve) => read(wanted, resolve));
  if (password !== undefined) return password;
  // The server's code for a wrong password: without a password node-postgres would go on and fail inside SCRAM.
  throw Object.assign(new Error('it requires a password, and none was given'), { code: '28P01' });
};
