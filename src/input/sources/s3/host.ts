// Credentials of the machine: of a container (ECS, EKS), or of an instance (EC2 metadata service).

import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../core/errors/errors.ts';
import { askService, type Question } from './ask-service.ts';
import { credentialsIn } from './answer.ts';
import { CredentialsProblem, isPrintable, type Credentials, type Search } from './credentials.ts';

const containerHost = 'http://169.254.170.2';
/** Hosts that may get a token without TLS, besides 127.0.0.0/8: ECS, EKS and this machine. */
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

export const fromContainer = async ({ env }: Search): Promise<Credentials | undefined> => {
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

/** Short, because nothing answers on machines outside of EC2. */
const instanceTimeoutMs = 1_000;
const rolePath = '/latest/meta-data/iam/security-credentials/';

/** Credentials of the EC2 instance by IMDSv2; undefined: this machine is none, or has no role. */
export const fromInstance = async ({ env }: Search): Promise<Credentials | undefined> => {
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
