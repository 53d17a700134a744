// Reads a profile of ~/.aws/config and ~/.aws/credentials, and its credentials.

import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { codeOf, messageOf } from '../../../core/errors/errors.ts';
import { credentialsIn } from './answer.ts';
import { CredentialsProblem, type Credentials, type Search } from './credentials.ts';
import { assumeWithToken } from './web-identity.ts';

type Profile = Readonly<Record<string, string>>;

const readIfThere = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return '';
    throw error;
  }
};

const sectionOf = (text: string, isHeading: (name: string) => boolean): Profile | undefined => {
  let isOurs = false;
  let found: Record<string, string> | undefined;
  for (const line of text.split(/\r?\n/)) {
    const heading = /^\[\s*(.*?)\s*\]/.exec(line);
    if (heading !== null) {
      isOurs = isHeading(heading[1]!.replace(/\s+/g, ' '));
      if (isOurs) found ??= {};
    }
    const setting = /^([^\s#;=[][^=]*?)\s*=\s*(.*?)(?:\s[#;].*)?\s*$/.exec(line);
    if (isOurs && setting !== null) found![setting[1]!.toLowerCase()] = setting[2]!;
  }
  return found;
};

const profilePaths = (env: Search['env']): { readonly config: string; readonly credentials: string } => ({
  config: env['AWS_CONFIG_FILE'] || join(homedir(), '.aws', 'config'),
  credentials: env['AWS_SHARED_CREDENTIALS_FILE'] || join(homedir(), '.aws', 'credentials'),
});

/** The credentials file overrides the config file. */
const readProfile = async (name: string, env: Search['env']): Promise<Profile | undefined> => {
  const paths = profilePaths(env);
  const [config, credentials] = await Promise.all([
    readIfThere(paths.config),
    readIfThere(paths.credentials),
  ]);
  const general = sectionOf(
    config,
    (heading) => heading === `profile ${name}` || (name === 'default' && heading === name),
  );
  const secret = sectionOf(credentials, (heading) => heading === name);
  return general === undefined && secret === undefined ? undefined : { ...general, ...secret };
};

/** A long timeout, because the program may ask a person for a second factor. */
const processTimeoutMs = 60_000;

const fromProcess = async (command: string, where: string): Promise<Credentials> => {
  const [shell, flag] =
    process.platform === 'win32' ? [process.env['ComSpec'] ?? 'cmd.exe', '/c'] : ['/bin/sh', '-c'];
  try {
    const { stdout } = await promisify(execFile)(shell, [flag, command], { timeout: processTimeoutMs });
    return credentialsIn(stdout, `credential_process of ${where}`);
  } catch (cause) {
    if (cause instanceof CredentialsProblem) throw cause;
    const { code, killed } = cause as { code?: unknown; killed?: boolean };
    const ended = killed === true ? 'took too long' : `ended with ${String(code)}`;
    throw new CredentialsProblem(
      `credential_process of ${where} ${ended}`,
      'Run the command of that setting by hand to see why.',
    );
  }
};

/** Refuses profiles whose credentials only the AWS CLI can fetch. Throws CredentialsProblem. */
const refuseForeign = (profile: Profile, name: string): void => {
  const isSignIn = Object.keys(profile).some((key) => key.startsWith('sso_') || key === 'login_session');
  if (!isSignIn && profile['role_arn'] === undefined) return;
  throw new CredentialsProblem(
    `profile ${name} ${isSignIn ? 'signs in with SSO' : 'assumes a role'}, which only the AWS CLI can do`,
    `Run eval "$(aws configure export-credentials --profile ${name} --format env)", or make a profile with ` +
      `credential_process = aws configure export-credentials --profile ${name}, which is run again before they expire.`,
  );
};

/** Undefined if no profile is named and no default exists. Throws CredentialsProblem. */
export const profileOf = async ({ env, profile }: Search): Promise<[string, Profile] | undefined> => {
  const asked = profile ?? (env['AWS_PROFILE'] || undefined);
  const name = asked ?? 'default';
  let found: Profile | undefined;
  try {
    found = await readProfile(name, env);
  } catch (cause) {
    throw new CredentialsProblem(
      `the files of profile ${name} cannot be read: ${messageOf(cause)}`,
      'Check AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE, ~/.aws/config and ~/.aws/credentials.',
    );
  }
  if (found !== undefined) return [name, found];
  if (asked === undefined) return undefined;
  throw new CredentialsProblem(
    `there is no profile ${name} in ~/.aws/config or ~/.aws/credentials`,
    'Check AWS_PROFILE or the option profile; `aws configure list-profiles` shows all profiles.',
  );
};

/** Returns the profile's credentials. Throws CredentialsProblem. */
export const fromProfile = async (search: Search): Promise<Credentials | undefined> => {
  const found = await profileOf(search);
  if (found === undefined) return undefined;
  const [name, profile] = found;
  const { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey } = profile;
  if (accessKeyId && secretAccessKey)
    return { accessKeyId, secretAccessKey, sessionToken: profile['aws_session_token'] || undefined };
  const { role_arn: roleArn, web_identity_token_file: tokenFile, credential_process: command } = profile;
  if (roleArn && tokenFile)
    return assumeWithToken(
      { roleArn, tokenFile, session: profile['role_session_name'], region: profile['region'] },
      search.env,
    );
  if (command) return fromProcess(command, `profile ${name}`);
  refuseForeign(profile, name);
  return undefined;
};
