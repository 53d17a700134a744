// sqlFile(): SQL that lives in a file of its own.

import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import type { SqlFile } from '../../core/declaration/hook.ts';
import { mustBe } from '../problems.ts';

/**
 * Names a file with one SELECT that gives the rows of a table.
 *
 * @param path relative to the pipeline file, absolute, or `new URL('./daily.sql', import.meta.url)`.
 */
export const sqlFile = (path: string | URL): SqlFile =>
  Object.freeze({ kind: 'sqlFile', path: path instanceof URL ? fileURLToPath(path) : path });

export const sqlFileSchema = z.custom<SqlFile>((value) => {
  const { kind, path } = (value ?? {}) as Partial<SqlFile>;
  return kind === 'sqlFile' && typeof path === 'string' && path !== '';
}, mustBe("sqlFile('path.sql')"));
