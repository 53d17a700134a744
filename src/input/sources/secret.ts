// Secrets of a table's sources: environment variables, which are read where a request is made, in every process.

import type { SourceOptions } from '../../core/declaration/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { isSecret, type Secret } from '../../core/declaration/secret.ts';

/** Errors: ETL_SOURCE_SECRET. */
export const secretValue = ({ name }: Secret, table: string): string => {
  const value = process.env[name];
  if (value === undefined || value === '') throw new EtlError('ETL_SOURCE_SECRET', { table, name });
  return value;
};

const secretsIn = (value: unknown): readonly Secret[] => {
  if (isSecret(value)) return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(secretsIn) : [];
};

/** Refuses options whose secrets this process does not have, before anything starts. Errors: ETL_SOURCE_SECRET. */
export const refuseMissingSecrets = (table: string, options: SourceOptions): void => {
  for (const secret of secretsIn(options)) secretValue(secret, table);
};
