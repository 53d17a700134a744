// Packs the package once for a test run of `npm run test:package`.

import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { root } from '../unit/project/source-files.ts';
import { mustRun } from './package-project.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** The tarball that `npm pack` made of this checkout. */
    tarball: string;
    /** Paths within it, sorted. */
    packedPaths: readonly string[];
  }
}

export const setup = async (project: TestProject): Promise<() => Promise<void>> => {
  const directory = await mkdtemp(join(tmpdir(), 'sluice-packed-'));
  // `npm pack` builds: what is tested is what the sources say now.
  const { out } = await mustRun('npm', ['pack', '--json', '--pack-destination', directory], { cwd: root });
  // What the build prints comes before npm's own words.
  const [packed] = JSON.parse(out.slice(out.search(/^\[/m))) as [
    { readonly filename: string; readonly files: readonly { readonly path: string }[] },
  ];
  project.provide('tarball', join(directory, packed.filename));
  project.provide('packedPaths', packed.files.map(({ path }) => path).toSorted());
  return () => rm(directory, { recursive: true, force: true });
};
