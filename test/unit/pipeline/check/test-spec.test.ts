// Declared data tests: the mistakes that the definition refuses, and the resulting specification.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { tablesWith } from '../../../../src/pipeline/define-pipeline.ts';
import { tableHashes } from '../../../../src/pipeline/hash.ts';
import {
  column,
  csv,
  definePipeline,
  expect as expected,
  sqlFile,
} from '../../../../src/pipeline/authoring.ts';
import type { TestDefinition } from '../../../../src/publish/data-tests/contract.ts';
import type { PipelineSpec } from '../../../../src/core/declaration.ts';

const define = (tests: unknown) =>
  definePipeline({
    name: 'p',
    schema: 's',
    tables: {
      sale: {
        source: csv('a.csv'),
        columns: {
          id: column.integer('id'),
          code: column.varchar('code', { length: 3 }),
          at: column.timestamptz('at'),
          mood: column.of('mood', 'mood'),
        },
        primaryKey: ['id'],
        lineage: ['_file'],
        tests: tests as TestDefinition<any>[],
      },
      made: {
        from: ['sale'],
        transform: sqlFile('a.sql'),
        tests: [expected.between('x', 1, 2), expected.unique('y')],
      },
      declared: { from: ['sale'], transform: sqlFile('a.sql'), row: z.object({ n: z.number() }) },
    },
  });

const problemOf = (tests: unknown): string => {
  try {
    define(tests);
  } catch (error) {
    return (error as Error).message;
  }
  return '';
};

describe('a wrong test', () => {
  it.each([
    [expected.unique('idd'), '`idd` is not a column of the table; did you mean `id`?'],
    [expected.unique([]), 'needs names of columns'],
    [expected.unique(['id', 'id']), 'names `id` twice'],
    [
      expected.notNull('id', { severity: 'fatal' as never }),
      "severity must be one of 'warn', 'error', not 'fatal'",
    ],
    [
      expected.notNull('id', { max: '101%' }),
      "max must be a number of rows, or a share such as '0.1%', not '101%'",
    ],
    [expected.notNull('id', { maximum: 1 } as never), 'unknown key `maximum`'],
    [expected.accepted('id', []), 'needs a list of at least one value'],
    [expected.accepted('id', [1, 'x']), "value 2 must be a value of type integer, not 'x'"],
    [expected.accepted('code', ['long']), 'value 1 must be a value of type varchar(3)'],
    [expected.between('code', 1, 2), 'needs numbers or times, and `code` is something else'],
    [expected.between('id', null, null), 'needs a bound'],
    [expected.between('at', 'yesterday', null), "min must be a value of type timestamptz, not 'yesterday'"],
    [expected.matches('id', /a/), 'needs a text, and `id` is not one'],
    [expected.matches('code', 'a' as never), 'needs a RegExp'],
    [
      expected.matches('code', /a(?=b)/),
      'has a lookaround or a modifier, which PostgreSQL reads differently',
    ],
    [expected.references('id', 'sales.id'), 'refers to `sales`, which is not a table of this pipeline'],
    [expected.references('id', 'declared.m'), 'refers to `m`, which is not a column of declared'],
    [
      expected.references('id', 'sale'),
      "refers to 'sale', which must be 'table.column', 'schema.table.column' or { schema, table, column }",
    ],
    [expected.rows({}), 'needs min, max or change'],
    [expected.rows({ min: 2, max: 1 }), 'has a min above its max'],
    [expected.rows({ change: '20' as never }), "needs a share such as '20%' for change"],
    [expected.rows({ minimum: 1 } as never), 'accepts min, max and change, not `minimum`'],
    [expected.fresh('id', '2 days'), 'needs a date or timestamp, and `id` is not one'],
    [expected.fresh('at', '2 moons' as never), "needs an age such as '12 hours'"],
    [expected.sql(''), 'needs the path of a file'],
    ['unique', "test 1: must be made with expect, such as expect.unique('id')"],
  ])('%#: %s', (test, says) => expect(problemOf([test])).toContain(says));

  it('has no name of its own, or there are too many', () => {
    expect(problemOf([expected.unique('id'), expected.unique('id', { max: 1 })])).toContain(
      "table sale: two tests are called unique(id); give one another name with { name: '…' }",
    );
    expect(
      problemOf(Array.from({ length: 501 }, (_, name) => expected.rows({ min: 1 }, { name: `${name}` }))),
    ).toContain('has 501 tests, and 500 are allowed');
    expect(problemOf(expected.unique('id'))).toContain("tests must be a list such as [expect.unique('id')]");
  });
});

it('tests are kept as data, with values as their types write them, and change no hash', () => {
  const tests = [
    expected.accepted('id', [1, 2], { severity: 'warn', max: '0.5%', name: 'ids' }),
    expected.references('code', 'other.place.name'),
    expected.between('_file', 1, null),
    expected.accepted('mood', ['sad']),
  ];
  const [sale, made] = tablesWith(define(tests), {});
  expect(sale!.tests).toEqual([
    {
      kind: 'accepted',
      name: 'ids',
      columns: ['id'],
      of: { values: ['1', '2'] },
      severity: 'warn',
      max: { kind: 'percent', percent: 0.5 },
    },
    expect.objectContaining({
      name: 'references(code)',
      of: { table: '"other"."place"', column: 'name', shown: 'other.place.name', isOurs: false },
    }),
    expect.objectContaining({
      of: { min: '1', max: null },
      severity: 'error',
      max: { kind: 'count', records: 0 },
    }),
    expect.objectContaining({ of: { values: ['sad'] } }),
  ]);
  expect(made!.tests).toHaveLength(2);
  const hashesOf = (given: unknown) =>
    tableHashes(
      { tables: tablesWith(define(given), {}) } as PipelineSpec,
      new Map([
        ['made', ''],
        ['declared', ''],
      ]),
    );
  expect(hashesOf(tests)).toEqual(hashesOf([]));
});
