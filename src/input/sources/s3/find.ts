// Finds credentials in the places where the tools of AWS look, in their order, and keeps them fresh.

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
  /** As the error names it if no place has credentials. */
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

/** The credentials of the first place that has some. Throws CredentialsProblem. */
export const findCredentials = async (search: Search): Promise<Credentials> => {
  const looked = search.profile === undefined ? places : [profiles];
  for (const { name, find } of looked) {
    const found = await find(search);
    if (found === undefined) continue;
    const { accessKeyId, secretAccessKey, sessionToken = '' } = found;
    if ([accessKeyId, secretAccessKey, sessionToken].every(isPrintable)) return found;
    throw new CredentialsProblem(
      `the credentials in ${name} have line breaks or other control characters`,
      'Copy them again; each is one line.',
    );
  }
  throw new CredentialsProblem(
    `no credentials were found; looked at ${looked.map(({ name }) => name).join('; ')}`,
    'Set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE. For a public bucket: csv(…, { anonymous: true }).',
  );
};

/** Temporary credentials are fetched again this long before they expire: none expire while a request is under way. */
const renewBeforeMs = 5 * 60_000;

export interface CredentialsKeeper {
  readonly get: () => Promise<Credentials>;
  /** Says that a server took these for expired: the next `get` looks again. */
  readonly forget: (expired: Credentials) => void;
}

/** Looks once for all who ask, and again before what was found expires. `find` throws CredentialsProblem. */
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
      // Credentials that are still good outlive a service that is briefly away.
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
