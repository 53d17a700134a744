// Prepares a soak: a compiled copy of this checkout, whose workers are the ones that users have.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestProject } from 'vitest/node';
import { compileCopy } from './compiled-copy.ts';

declare module 'vitest' {
  interface ProvidedContext {
    /** Path of etl.mjs in the compiled copy. */
    soakProgram: string;
  }
}

/** Called by Vitest once; what it returns is called at the end, also when tests failed. */
export const setup = (project: TestProject): (() => void) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-soak-'));
  project.provide('soakProgram', compileCopy(directory));
  return () => rmSync(directory, { recursive: true, force: true });
};
