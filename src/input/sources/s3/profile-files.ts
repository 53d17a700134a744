// Reads a profile of ~/.aws/config and ~/.aws/credentials.

import { readFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { codeOf } from '../../../core/errors/errors.ts';

/** The settings of one profile, by their names in the files. */
export type Profile = Readonly<Record<string, string>>;

type Environment = Readonly<Record<string, string | undefined>>;

const readIfThere = async (path: string): Promise<string> => {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes(codeOf(error) ?? '')) return '';
    throw error;
  }
};

/** The settings under the heading that `isHeading` accepts; a line that begins with a blank belongs to a nested setting. */
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

/** Both files where the environment, or else the home directory, has them. */
const profilePaths = (env: Environment): { readonly config: string; readonly credentials: string } => ({
  config: env['AWS_CONFIG_FILE'] || join(homedir(), '.aws', 'config'),
  credentials: env['AWS_SHARED_CREDENTIALS_FILE'] || join(homedir(), '.aws', 'credentials'),
});

/** The profile with this name; undefined: neither file has it. The file of credentials wins. */
export const readProfile = async (name: string, env: Environment): Promise<Profile | undefined> => {
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
