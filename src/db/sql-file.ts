// Reads SQL files, and maps the server's errors to positions in them.

import { readFile } from 'node:fs/promises';
import { isAbsolute, resolve } from 'node:path';
import { isRefusal, unknownNameHint } from './connect/server-error.ts';
import { EtlError, codeOf, messageOf } from '../core/errors/errors.ts';
import type { SqlFile } from '../core/hook.ts';

export interface SqlText {
  readonly table: string;
  readonly file: string;
  readonly text: string;
}

/** Reads a table's SQL file, without its final semicolon. Errors: ETL_TRANSFORM_FILE. */
export const readSqlFile = async (table: string, { path }: SqlFile, directory: string): Promise<SqlText> => {
  const file = isAbsolute(path) ? path : resolve(directory, path);
  try {
    const text = await readFile(file, 'utf8');
    // Removes a byte order mark, which PostgreSQL would report as a syntax error.
    return { table, file: path, text: text.replace(/^\uFEFF/, '').replace(closing, '') };
  } catch (cause) {
    throw new EtlError('ETL_TRANSFORM_FILE', { table, file, problem: messageOf(cause) }, { cause });
  }
};

/** Matches a final semicolon, with whitespace and comments after it. */
const closing = /;(?:\s|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*$/;

export const placeInSql = (text: string, offset: number): string => {
  const before = text.slice(0, offset).split('\n');
  return `:${before.length}:${before.at(-1)!.length + 1}`;
};

/** Adds line and column in the SQL file to an error. `prefixLength`: characters before its text. */
export const transformError = (sql: SqlText, prefixLength: number, cause: unknown): unknown => {
  if (!isRefusal(cause)) return cause;
  const position = Number((cause as { position?: string }).position ?? 0);
  const offset = position - 1 - prefixLength;
  const where = position > 0 && offset >= 0 ? placeInSql(sql.text, offset) : '';
  const details = {
    table: sql.table,
    file: sql.file,
    where,
    sqlstate: codeOf(cause),
    problem: messageOf(cause),
    hint: unknownNameHint(cause),
  };
  return new EtlError('ETL_TRANSFORM', details, { cause });
};
