// Reads secrets of sources from environment variables, whenever a request is made.

import type { SourceOptions } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { isSecret, type Secret } from '../../core/secret.ts';

/** Returns the value of the secret's environment variable. Errors: ETL_SOURCE_SECRET. */
export const secretValue = ({ name }: Secret, table: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new EtlError('ETL_SOURCE_SECRET', { table, name });
  return value;
};

const secretsIn = (value: unknown): readonly Secret[] => {
  if (isSecret(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
};

/** Refuses options whose secrets are not set, before a run starts. Errors: ETL_SOURCE_SECRET. */
export const refuseMissingSecrets = (table: string, options: SourceOptions): void => {
  for (const secret of secretsIn(options)) secretValue(secret, table);
};
