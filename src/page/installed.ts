// Whether BullMQ's board is installed: it is a package of its own that not everybody wants.

import { createRequire } from 'node:module';
import { EtlError } from '../core/errors/errors.ts';

const packages = ['@bull-board/api', '@bull-board/hono'] as const;

const require = createRequire(import.meta.url);

const isThere = (name: string): boolean => {
  try {
    require.resolve(name);
    return true;
  } catch {
    return false;
  }
};

/** Whether the page has it; `wanted`: undefined if it is there. Errors: ETL_USAGE when it is wanted and is not there. */
export const hasBoard = (wanted: boolean | undefined): boolean => {
  if (wanted === false) return false;
  const missing = packages.filter((name) => !isThere(name));
  if (missing.length === 0) return true;
  if (wanted === undefined) return false;
  throw new EtlError('ETL_USAGE', {
    problem: `BullMQ's board is not installed: ${missing.join(' and ')} ${missing.length === 1 ? 'is' : 'are'} missing`,
    hint: `npm install ${packages.join(' ')}`,
  });
};
