// Gets credentials of a role for a token in a file, as in Kubernetes on AWS.

import { readFile } from 'node:fs/promises';
import { messageOf } from '../../../core/errors/errors.ts';
import { askService } from './ask-service.ts';
import { CredentialsProblem, type Credentials, type Search } from './credentials.ts';
import { isRegion, domainOf } from './region.ts';
import { parseXml, textAt } from './xml.ts';

interface WebIdentity {
  readonly roleArn: string;
  readonly tokenFile: string;
  readonly session: string | undefined;
  readonly region: string | undefined;
}

const timeoutMs = 10_000;

const endpointOf = (region: string | undefined, env: Search['env']): string => {
  const declared = env['AWS_ENDPOINT_URL_STS'] || env['AWS_ENDPOINT_URL'];
  if (declared) return declared;
  return region === undefined || !isRegion(region)
    ? 'https://sts.amazonaws.com'
    : `https://sts.${region}.${domainOf(region)}`;
};

/** Exchanges the token in a file for credentials of a role. Throws CredentialsProblem. */
export const assumeWithToken = async (
  { roleArn, tokenFile, session, region }: WebIdentity,
  env: Search['env'],
): Promise<Credentials> => {
  const fail = (problem: string): CredentialsProblem =>
    new CredentialsProblem(
      `role ${roleArn} could not be assumed with the token in ${tokenFile}: ${problem}`,
      "Check the role's trust policy, the service account, and that the token file is current.",
    );
  const token = await readFile(tokenFile, 'utf8').catch((cause: unknown) => {
    throw fail(messageOf(cause));
  });
  const body = new URLSearchParams({
    Action: 'AssumeRoleWithWebIdentity',
    Version: '2011-06-15',
    RoleArn: roleArn,
    RoleSessionName: session ?? `sluice-${process.pid}`,
    WebIdentityToken: token.trim(),
  });
  const answer = await askService(endpointOf(region, env), {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    body: body.toString(),
    timeoutMs,
  }).catch((cause: unknown) => {
    throw fail(messageOf(cause));
  });
  const xml = parseXml(answer.text);
  const given = (name: string): string | undefined =>
    textAt(xml, 'AssumeRoleWithWebIdentityResponse', 'AssumeRoleWithWebIdentityResult', 'Credentials', name);
  const accessKeyId = given('AccessKeyId');
  const secretAccessKey = given('SecretAccessKey');
  if (accessKeyId === undefined || secretAccessKey === undefined)
    throw fail(
      `the token service answered ${answer.status} ${textAt(xml, 'ErrorResponse', 'Error', 'Code') ?? ''}`.trim(),
    );
  const expires = Date.parse(given('Expiration') ?? '');
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: given('SessionToken'),
    expires: Number.isNaN(expires) ? undefined : expires,
  };
};

export const fromWebIdentity = async ({ env }: Search): Promise<Credentials | undefined> => {
  const tokenFile = env['AWS_WEB_IDENTITY_TOKEN_FILE'];
  const roleArn = env['AWS_ROLE_ARN'];
  if (!tokenFile || !roleArn) return undefined;
  const region = env['AWS_REGION'] || env['AWS_DEFAULT_REGION'] || undefined;
  return assumeWithToken(
    { roleArn, tokenFile, session: env['AWS_ROLE_SESSION_NAME'] || undefined, region },
    env,
  );
};
