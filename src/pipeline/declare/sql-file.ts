// sqlFile(): names a SQL file.

import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { SqlFile } from '../../core/hook.ts';
import { mustBe } from '../problems.ts';

/**
 * Names a SQL file: the SELECT that returns the rows of a table (`transform`), a data test or a
 * hook.
 *
 * @param path absolute, relative to the pipeline file, or `new URL('./daily.sql',
 *   import.meta.url)`.
 */
export const sqlFile = (path: string | URL): SqlFile =>
  Object.freeze({ kind: 'sqlFile', path: path instanceof URL ? fileURLToPath(path) : path });

export const sqlFileSchema = z.custom<SqlFile>((value) => {
  const { kind, path } = (value ?? {}) as Partial<SqlFile>;
  return kind === 'sqlFile' && typeof path === 'string' && path !== '';
}, mustBe("sqlFile('path.sql')"));
