// Settings of S3 requests: from a table's options, then the environment, then the profile.

import { findCredentials, keepCredentials, type CredentialsKeeper } from './find.ts';
import { profileOf } from './profile.ts';
import type { Patience } from '../resume.ts';
import type { S3Options } from './declared.ts';
import { isRegion } from './region.ts';

export interface S3Settings {
  readonly endpoint: string | undefined;
  readonly region: string;
  readonly requesterPays: boolean;
  readonly credentials: CredentialsKeeper | undefined;
}

/** A read gets more tries than a look, because it has more work to lose. */
export const patience: Readonly<Record<'look' | 'read', Patience>> = {
  look: { tries: 5, ms: 120_000 },
  read: { tries: 10, ms: 120_000 },
};

const firstRegion = 'us-east-1';

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
