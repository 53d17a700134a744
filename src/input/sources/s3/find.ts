// Finds credentials in the places and the order of AWS tools, and renews them.

import { fromProfile } from './profile.ts';
import { fromWebIdentity } from './web-identity.ts';
import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../core/errors/errors.ts';
import { askService, type Question } from './ask-service.ts';
import { credentialsIn } from './answer.ts';
import { CredentialsProblem, isPrintable, type Credentials, type Search } from './credentials.ts';

const containerHost = 'http://169.254.170.2';
/** Besides 127.0.0.0/8, only these hosts (ECS, EKS, this machine) may get a token without TLS. */
const plainHosts: ReadonlySet<string> = new Set([
  '169.254.170.2',
  '169.254.170.23',
  '[fd00:ec2::23]',
  'localhost',
  '[::1]',
]);
const containerTimeoutMs = 5_000;

const containerProblem = (problem: string): CredentialsProblem =>
  new CredentialsProblem(
    `the container's credentials cannot be read: ${problem}`,
    'Check AWS_CONTAINER_CREDENTIALS_* and the role of the task or pod.',
  );

const containerUrl = (env: Search['env']): URL | undefined => {
  const path = env['AWS_CONTAINER_CREDENTIALS_RELATIVE_URI'];
  const full = env['AWS_CONTAINER_CREDENTIALS_FULL_URI'];
  if (path) return new URL(`${containerHost}${path.startsWith('/') ? '' : '/'}${path}`);
  if (!full) return undefined;
  if (!URL.canParse(full)) throw containerProblem('AWS_CONTAINER_CREDENTIALS_FULL_URI is no URL');
  const url = new URL(full);
  const isPlainHost = plainHosts.has(url.hostname) || /^127(?:\.\d+){3}$/.test(url.hostname);
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isPlainHost)) return url;
  throw containerProblem(
    `AWS_CONTAINER_CREDENTIALS_FULL_URI must be https, or http on this host, not ${url.host}`,
  );
};

/** Reads the token each time, because its file is replaced while a process runs. */
const containerToken = async (env: Search['env']): Promise<string | undefined> => {
  const file = env['AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE'];
  const text = file
    ? await readFile(file, 'utf8').catch((cause: unknown) => {
        throw containerProblem(messageOf(cause));
      })
    : env['AWS_CONTAINER_AUTHORIZATION_TOKEN'];
  const token = text?.trim() || undefined;
  // Node's error of an invalid header would quote the token.
  if (token !== undefined && !isPrintable(token))
    throw containerProblem('its token has line breaks or other control characters');
  return token;
};

const fromContainer = async ({ env }: Search): Promise<Credentials | undefined> => {
  const url = containerUrl(env);
  if (url === undefined) return undefined;
  const token = await containerToken(env);
  const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
  const answer = await askService(url.href, { headers, timeoutMs: containerTimeoutMs }).catch(
    (cause: unknown) => {
      throw containerProblem(messageOf(cause));
    },
  );
  if (answer.status !== 200) throw containerProblem(`${url.host} answered ${answer.status}`);
  return credentialsIn(answer.text, "the container's service");
};

/** A short timeout, because nothing answers on machines outside of EC2. */
const instanceTimeoutMs = 1_000;
const rolePath = '/latest/meta-data/iam/security-credentials/';

/** Asks EC2's IMDSv2. Undefined if this machine is not an EC2 instance, or has no role. */
const fromInstance = async ({ env }: Search): Promise<Credentials | undefined> => {
  if (env['AWS_EC2_METADATA_DISABLED']?.toLowerCase() === 'true') return undefined;
  const endpoint = (env['AWS_EC2_METADATA_SERVICE_ENDPOINT'] || 'http://169.254.169.254').replace(/\/$/, '');
  const ask = (path: string, question: Omit<Question, 'timeoutMs'>) =>
    askService(`${endpoint}${path}`, { ...question, timeoutMs: instanceTimeoutMs }, 1);
  const session = await ask('/latest/api/token', {
    method: 'PUT',
    headers: { 'x-aws-ec2-metadata-token-ttl-seconds': '300' },
  }).catch(() => undefined);
  if (session?.status !== 200) return undefined;
  const headers = { 'x-aws-ec2-metadata-token': session.text };
  const fail = (problem: string): CredentialsProblem =>
    new CredentialsProblem(
      `the instance's metadata service ${problem}`,
      'Check the role of the instance, or set AWS_EC2_METADATA_DISABLED=true.',
    );
  const lost = (cause: unknown): never => {
    throw fail(`stopped answering: ${messageOf(cause)}`);
  };
  const roles = await ask(rolePath, { headers }).catch(lost);
  const [role] = roles.text.split('\n');
  if (roles.status === 404 || !role) return undefined;
  const answer = await ask(`${rolePath}${encodeURIComponent(role.trim())}`, { headers }).catch(lost);
  if (answer.status !== 200) throw fail(`answered ${answer.status} for the role`);
  return credentialsIn(answer.text, "the instance's metadata service");
};

const fromEnvironment = async ({ env }: Search): Promise<Credentials | undefined> => {
  const accessKeyId = env['AWS_ACCESS_KEY_ID'];
  const secretAccessKey = env['AWS_SECRET_ACCESS_KEY'];
  if (!accessKeyId || !secretAccessKey) return undefined;
  return { accessKeyId, secretAccessKey, sessionToken: env['AWS_SESSION_TOKEN'] || undefined };
};

interface Place {
  /** If no place has credentials, the error lists these names. */
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

/** Credentials are renewed this long before they expire. */
const renewBeforeMs = 5 * 60_000;

export interface CredentialsKeeper {
  readonly get: () => Promise<Credentials>;
  /** Drops credentials that a server refused as expired. The next `get` searches again. */
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
