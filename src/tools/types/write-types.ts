// Writes TypeScript for the production tables of pipelines, and compares it with a file.

import { readFile, writeFile } from 'node:fs/promises';
import { EtlError, codeOf, messageOf } from '../../core/errors/errors.ts';
import { drizzleSchema } from './drizzle.ts';
import { kyselyDatabase, plainInterfaces } from './interfaces.ts';
import type { TypeForm } from './forms.ts';
import type { TypedTable } from './typed-tables.ts';

const writers: Readonly<Record<TypeForm, (tables: readonly TypedTable[]) => readonly string[]>> = {
  interfaces: plainInterfaces,
  kysely: kyselyDatabase,
  drizzle: drizzleSchema,
};

/** Begins every written file: a file that begins otherwise is not overwritten. */
const mark = '// Written by `etl types`';

export const typesText = (tables: readonly TypedTable[], form: TypeForm): string =>
  `${[`${mark}. Do not edit; write it again when a pipeline has changed.`, ...writers[form](tables)].join('\n\n')}\n`;

const readOr = async (file: string): Promise<string | undefined> => {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    if (codeOf(cause) === 'ENOENT') return undefined;
    throw refused(file, cause);
  }
};

const refused = (file: string, cause: unknown): EtlError =>
  new EtlError(
    'ETL_USAGE',
    { problem: messageOf(cause), hint: `Give --out another path than ${file}.` },
    { cause },
  );

/** Writes the file. Errors: ETL_USAGE if it was not written by this function, or cannot be written. */
export const writeTypes = async (file: string, text: string): Promise<void> => {
  const before = await readOr(file);
  if (before !== undefined && before !== '' && !before.startsWith(mark))
    throw new EtlError('ETL_USAGE', {
      problem: `${file} was not written by \`etl types\``,
      hint: 'The file was not changed. Give --out another path, or delete the file first.',
    });
  await writeFile(file, text).catch((cause: unknown) => {
    throw refused(file, cause);
  });
};

/** Errors: ETL_TYPES_DIFFER. Git may have changed the line ends. */
export const checkTypes = async (file: string, text: string, pipelines: string): Promise<void> => {
  const before = await readOr(file);
  if (before?.replaceAll('\r\n', '\n') === text) return;
  const lines = before?.split(/\r?\n/) ?? [];
  const line = text.split('\n').findIndex((each, index) => each !== lines[index]);
  const problem = before === undefined ? 'there is no such file' : `first in line ${line + 1}`;
  throw new EtlError('ETL_TYPES_DIFFER', { file, pipelines, problem });
};
