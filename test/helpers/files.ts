// Gives a test file a directory of its own for source and SQL files.

import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll } from 'vitest';

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
      writeFileSync(path, content);
      const aMinuteAgo = Date.now() / 1_000 - 60;
      utimesSync(path, aMinuteAgo, aMinuteAgo);
      return path;
    },
  };
};
