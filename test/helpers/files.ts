// Gives a test file a directory of its own for source and SQL files.

import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';
import { writeSettled } from './settled.ts';

export interface TestFiles {
  readonly directory: string;
  /**
   * Writes a file, and directories for it, and returns its absolute path. The file seems a minute
   * old, so that no run waits until it has settled.
   */
  write(name: string, content: string | Buffer): string;
}

export const useFiles = (): TestFiles => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-files-'));
  afterAll(() => rmSync(directory, { recursive: true, force: true }));
  return {
    directory,
    write: (name, content) => {
      const path = join(directory, name);
      mkdirSync(dirname(path), { recursive: true });
      writeSettled(path, content);
      return path;
    },
  };
};
