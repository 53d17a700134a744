// Names of files that programs are still writing, which globs do not match.

import { expect, it } from 'vitest';
import { isUnfinished } from '../../../../src/input/sources/name-matcher.ts';

it.each([
  ['in/a.csv', 'in/*', false],
  ['in/a.csv.tmp', 'in/*', true],
  ['in/a.csv.part', 'in/**', true],
  ['in/a.filepart', 'in/a*', true],
  ['in/a.crdownload', 'in/*.*', true],
  ['in/a.csv~', 'in/*', true],
  ['in/~$a.csv', 'in/*.csv', true],
  ['in/tmp', 'in/*', false],
  ['in.tmp/a.csv', 'in.tmp/*', false],
  ['in/a.csv.tmp', 'in/*.tmp', false],
  ['in/a.csv.part', 'in/*.{csv,part}', false],
  ['in/~$a.csv', 'in/~$*', false],
  ['s3://bucket/in/a.csv.part', 's3://bucket/**/*.csv*', true],
])('%s of %s: %s', (name, glob, isLeftOut) => expect(isUnfinished(name, glob)).toBe(isLeftOut));
