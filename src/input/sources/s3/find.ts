// Finds credentials in the places and the order of AWS tools, and renews them.

import { fromContainer, fromInstance } from './host.ts';
import { fromProfile } from './profile.ts';
import { CredentialsProblem, isPrintable, type Credentials, type Search } from './credentials.ts';
import { fromWebIdentity } from './web-identity.ts';

const fromEnvironment = async ({ env }: Search): Promise<Credentials | undefined> => {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env['AWS_SESSION_TOKEN'] || undefined };
};

interface Place {
  /** Name of the place in the error if there are no credentials. */
  readonly name: string;
  readonly find: (search: Search) => Promise<Credentials | undefined>;
}

const profiles: Place = {
  name: 'the profile (AWS_PROFILE) in ~/.aws/credentials and ~/.aws/config',
  find: fromProfile,
};

const places: readonly Place[] = [
  { name: 'AWS_ACCESS_KEY_ID with AWS_SECRET_ACCESS_KEY', find: fromEnvironment },
  profiles,
  { name: 'AWS_WEB_IDENTITY_TOKEN_FILE with AWS_ROLE_ARN', find: fromWebIdentity },
  {
    name: 'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI and AWS_CONTAINER_CREDENTIALS_FULL_URI',
    find: fromContainer,
  },
  { name: "the instance's metadata service", find: fromInstance },
];

/** Credentials of the first place that has any. Throws CredentialsProblem. */
export const findCredentials = async (search: Search): Promise<Credentials> => {
  const looked = search.profile === undefined ? places : [profiles];
  for (const { name, find } of looked) {
    const found = await find(search);
    if (found === undefined) continue;
    const { accessKeyId, secretAccessKey, sessionToken = '' } = found;
    if ([accessKeyId, secretAccessKey, sessionToken].every(isPrintable)) return found;
    throw new CredentialsProblem(
      `the credentials in ${name} have line breaks or other control characters`,
      'Set them again, each as one line.',
    );
  }
  throw new CredentialsProblem(
    `no credentials were found; looked at ${looked.map(({ name }) => name).join('; ')}`,
    'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. For a public bucket: csv(…, { anonymous: true }).',
  );
};

/** Temporary credentials are renewed this long before they expire, so that no request fails. */
const renewBeforeMs = 5 * 60_000;

/** Credentials that are shared and renewed. */
export interface CredentialsKeeper {
  readonly get: () => Promise<Credentials>;
  /** Must be called if a server refuses these as expired: the next `get` looks again. */
  readonly forget: (expired: Credentials) => void;
}

/** Calls `find` once for all callers, and again before the credentials expire. */
export const keepCredentials = (find: () => Promise<Credentials>): CredentialsKeeper => {
  let current: Credentials | undefined;
  let looking: Promise<Credentials> | undefined;
  const isGood = ({ expires }: Credentials, marginMs: number): boolean =>
    expires === undefined || expires - marginMs > Date.now();
  const look = async (): Promise<Credentials> => {
    try {
      current = await find();
      return current;
    } catch (error) {
      // If the service fails, credentials that have not expired are still used.
      if (current !== undefined && isGood(current, 0)) return current;
      throw error;
    } finally {
      looking = undefined;
    }
  };
  return {
    get: async () =>
      current !== undefined && isGood(current, renewBeforeMs) ? current : (looking ??= look()),
    forget: (expired) => {
      if (current === expired) current = undefined;
    },
  };
};
