// PGPASSFILE and ~/.pgpass. node-postgres reads them, too, and warns each time that it is going to stop.

interface Wanted {
  readonly host?: string;
  readonly port?: number;
  readonly database?: string;
  readonly user?: string;
}

type ReadPasswordFile = (wanted: Wanted, found: (password: string | undefined) => void) => void;

/** For node-postgres, which asks when the server wants a password and none was given. Errors: one with code 28P01. */
export const passwordFromFile = async (wanted: Wanted): Promise<string> => {
  // Loaded when it is needed: most connections have their password.
  // @ts-expect-error: it has no types
  const { default: read } = (await import('pgpass')) as { default: ReadPasswordFile };
  const password = await new Promise<string | undefined>((resolve) => read(wanted, resolve));
  if (password !== undefined) return password;
  // As the server refuses a wrong one: without it, node-postgres goes on and fails in the arithmetic of SCRAM.
  throw Object.assign(new Error('it requires a password, and none was given'), { code: '28P01' });
};
