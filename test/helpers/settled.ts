// Files that seem a minute old, so that no run waits until they have settled.

import { utimesSync, writeFileSync } from 'node:fs';

export const settle = (path: string): void => {
  const aMinuteAgo = Date.now() / 1_000 - 60;
  utimesSync(path, aMinuteAgo, aMinuteAgo);
};

export const writeSettled = (
  path: string,
  content: string | Buffer,
  encoding: BufferEncoding = 'utf8',
): void => {
  writeFileSync(path, content, encoding);
  settle(path);
};
