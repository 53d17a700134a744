// Directories of paths, as Windows writes them.

import { expect, it } from 'vitest';
import { withSlashes, writtenDirectory } from '../../../../src/input/sources/confine.ts';

it.each([
  ['win32', String.raw`C:\data\in\*.csv`, 'C:/data/in/*.csv'],
  ['win32', '//server/share/*.csv', '//server/share/*.csv'],
  ['linux', String.raw`in/\*.csv`, String.raw`in/\*.csv`],
])('on %s, %s is %s', (platform, path, found) => expect(withSlashes(path, platform)).toBe(found));

it('on Windows, a parameter stays below the directory that the author wrote with backslashes', () => {
  const [path, varied] = [String.raw`C:\data\in\a.csv`, String.raw`C:\data\in\b.csv`].map((one) =>
    withSlashes(one, 'win32'),
  );
  expect(writtenDirectory(path!, varied!, /[*?]/)).toBe('C:/data/in/');
});
