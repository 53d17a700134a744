// Names that PostgreSQL accepts are accepted, and it truncates no name that we derive from them.

import { describe, expect, it } from 'vitest';
import { stagingTable } from '../../../src/db/staging.ts';
import { besideNames, buildSchema, fittingName } from '../../../src/db/names.ts';
import { identifierBytesMax } from '../../../src/core/limits.ts';
import { defaultName, nameProblem, pipelineNameProblem } from '../../../src/pipeline/names.ts';

/** Returns the longest allowed name of this character. */
const longest = (problemOf: (name: string) => string | undefined, character = 'n'): string => {
  let name = character;
  while (problemOf(name + character) === undefined) name += character;
  return name;
};

describe('the name of a table or a column', () => {
  it.each([
    'User',
    'createdAt',
    'a b',
    'say "hi"',
    'a.b',
    '气温',
    'select',
    '1',
    "o'clock",
    '__proto__',
    '\n',
  ])('may be %j', (name) => expect(nameProblem(name)).toBeUndefined());

  it.each([
    ['', '`` is empty; give a name'],
    ['ü'.repeat(32), `\`${'ü'.repeat(32)}\` is 64 bytes long, and PostgreSQL cuts names at 63; shorten it`],
    ['a\0b', '`a\\x00b` is not a name: PostgreSQL stores neither NUL nor half of a character; leave it out'],
    [
      'a\ud800',
      '`a\ufffd` is not a name: PostgreSQL stores neither NUL nor half of a character; leave it out',
    ],
  ])('may not be %j', (name, problem) => expect(nameProblem(name)).toBe(problem));
});

describe('a name that is derived from others', () => {
  const pipeline = longest(pipelineNameProblem);
  const tables = ['n', 'ü', '气', '🐘'].map((character) => longest(nameProblem, character));

  it('is short enough: the build schema of a pipeline', () => {
    expect(Buffer.byteLength(buildSchema(pipeline))).toBeLessThanOrEqual(identifierBytesMax);
    expect(pipelineNameProblem(`${pipeline}n`)).toBe(
      `\`${pipeline}n\` has 53 characters, and its staging tables are named after it; use 52 at most`,
    );
  });

  it.each(tables)('is short enough, and cuts no character: what is made for table %s', (table) => {
    const made = [...besideNames(table), defaultName([table, 'day'], 'idx'), fittingName(`${table}_2026_01`)];
    for (const name of made) {
      expect(Buffer.byteLength(name)).toBeLessThanOrEqual(identifierBytesMax);
      expect(name).not.toContain('\ufffd');
    }
    expect(new Set(made).size).toBe(made.length);
  });

  it.each(tables)('is unique: no two pipelines share a staging table such as that of %s', (table) => {
    expect(stagingTable(pipeline, table).startsWith(`"etl_staging"."${pipeline}__`)).toBe(true);
    expect(stagingTable('a_', 'b')).toBe(stagingTable('a', '_b'));
    expect(pipelineNameProblem('a_')).toContain('ends in _');
    expect(stagingTable('a', table)).not.toBe(stagingTable('a', `${table.slice(0, -2)}xx`));
  });
});
