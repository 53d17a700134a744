// How a table's buckets are reached: its options first, then the environment and the profile, as the tools of AWS do it.

import { findCredentials, keepCredentials, type CredentialsKeeper } from './find.ts';
import { profileOf } from './profile.ts';
import type { Patience } from '../resume.ts';
import type { S3Options } from './declared.ts';
import { isRegion } from './region.ts';

export interface S3Settings {
  /** Undefined: AWS itself. */
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly requesterPays: boolean;
  /** Undefined: requests are not signed. */
  readonly credentials: CredentialsKeeper | undefined;
}

/** How long the same is tried again when nothing comes: a read has more work to lose than a look. */
export const patience: Readonly<Record<'look' | 'read', Patience>> = {
  look: { tries: 5, ms: 120_000 },
  read: { tries: 10, ms: 120_000 },
};

/** AWS says which region a bucket is in when it is asked for in another one. */
const firstRegion = 'us-east-1';

/** Throws CredentialsProblem for a profile that cannot be read. */
export const settingsOf = async (
  { endpoint, region, profile, anonymous = false, requesterPays = false }: S3Options,
  env: NodeJS.ProcessEnv,
): Promise<S3Settings> => {
  const search = { env, profile };
  const [, declared] = (anonymous ? undefined : await profileOf(search)) ?? [];
  const regions = [region, env['AWS_REGION'], env['AWS_DEFAULT_REGION'], declared?.['region']];
  const endpoints = [
    endpoint,
    env['AWS_ENDPOINT_URL_S3'],
    env['AWS_ENDPOINT_URL'],
    declared?.['endpoint_url'],
  ];
  return {
    endpoint: endpoints.find(Boolean)?.replace(/\/+$/, ''),
    region: regions.find((text) => text !== undefined && isRegion(text)) ?? firstRegion,
    requesterPays,
    credentials: anonymous ? undefined : keepCredentials(() => findCredentials(search)),
  };
};
