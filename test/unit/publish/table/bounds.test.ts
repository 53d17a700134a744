// Names and bounds of partitions, and the partition that a bound in production belongs to.

import { describe, expect, it } from 'vitest';
import type { PartitionSpec } from '../../../../src/core/declaration.ts';
import { fittingName } from '../../../../src/db/names.ts';
import { keyOfBound, partitionOf } from '../../../../src/publish/table/bounds.ts';

const range = (unit: Extract<PartitionSpec, { by: 'range' }>['unit']): PartitionSpec => ({
  by: 'range',
  column: 'day',
  unit,
});

describe('partitionOf', () => {
  it.each([
    ['day', '2026-01-31', 'sale_2026_01_31', '2026-02-01'],
    ['week', '2025-12-29', 'sale_2026w01', '2026-01-05'],
    ['week', '2020-12-28', 'sale_2020w53', '2021-01-04'],
    ['month', '2026-12-01', 'sale_2026_12', '2027-01-01'],
    ['quarter', '2026-10-01', 'sale_2026q4', '2027-01-01'],
    ['year', '0099-01-01', 'sale_0099', '0100-01-01'],
    ['year', '9999-01-01', 'sale_9999', '10000-01-01'],
  ] as const)('names and bounds the %s of %s', (unit, key, name, end) => {
    expect(partitionOf('sale', range(unit), key, 1)).toEqual({
      key,
      name,
      bound: `for values from ('${key} 00:00:00+00') to ('${end} 00:00:00+00')`,
      condition: `"day" operator(pg_catalog.>=) '${key} 00:00:00+00' and "day" operator(pg_catalog.<) '${end} 00:00:00+00'`,
    });
  });

  it('knows no partition of a time that has no year of ours', () => {
    for (const key of ['infinity', '-infinity', '0044-03-15 BC'])
      expect(partitionOf('sale', range('month'), key, 1)).toBeUndefined();
  });

  it('quotes values, and names the table that is hashed', () => {
    expect(partitionOf('sale', { by: 'list', column: 'at' }, "O'x", 1)).toEqual({
      key: "O'x",
      name: "sale_O'x",
      bound: "for values in ('O''x')",
      condition: `"at" operator(pg_catalog.=) 'O''x'`,
    });
    expect(partitionOf('sale', { by: 'hash', column: 'id', partitions: 8 }, '3', 77)).toEqual({
      key: '3',
      name: 'sale_3',
      bound: 'for values with (modulus 8, remainder 3)',
      condition: 'pg_catalog.satisfies_hash_partition(77::oid, 8, 3, "id")',
    });
  });
});

it('a name that is too long is cut at a character, and stays apart from others', () => {
  const [one, other] = ['ä', 'ö'].map((end) => fittingName(`sale_${'é'.repeat(40)}${end}`));
  expect(one).not.toBe(other);
  for (const name of [one!, other!]) {
    expect(Buffer.byteLength(name)).toBeLessThanOrEqual(63);
    expect(name).toMatch(/^sale_é+_[0-9a-f]{8}$/);
  }
});

it.each<[PartitionSpec, string, string | undefined]>([
  [range('month'), "FOR VALUES FROM ('2026-01-01') TO ('2026-02-01')", '2026-01-01'],
  [range('month'), "FOR VALUES FROM ('2026-01-01 00:00:00') TO ('2026-02-01 00:00:00')", '2026-01-01'],
  [
    range('month'),
    "FOR VALUES FROM ('2026-01-01 05:30:00+05:30') TO ('2026-02-01 05:30:00+05:30')",
    '2026-01-01',
  ],
  [range('month'), "FOR VALUES FROM ('2025-12-31 19:00:00-05') TO ('2026-01-31 19:00:00-05')", '2026-01-01'],
  [
    range('day'),
    "FOR VALUES FROM ('1900-01-01 00:09:21+00:09:21') TO ('1900-01-02 00:09:21+00:09:21')",
    '1900-01-01',
  ],
  [
    range('day'),
    "FOR VALUES FROM ('1968-05-04 23:15:30-00:44:30') TO ('1968-05-05 23:15:30-00:44:30')",
    '1968-05-05',
  ],
  [range('week'), "FOR VALUES FROM ('2025-12-29') TO ('2026-01-05')", '2025-12-29'],
  [range('week'), "FOR VALUES FROM ('2025-12-30') TO ('2026-01-06')", undefined],
  [range('quarter'), "FOR VALUES FROM ('2026-02-01') TO ('2026-05-01')", undefined],
  [range('month'), "FOR VALUES FROM ('2026-01-01') TO ('2026-03-01')", undefined],
  [range('month'), "FOR VALUES FROM ('2026-01-01 00:00:01') TO ('2026-02-01 00:00:01')", undefined],
  [range('month'), "FOR VALUES FROM (MINVALUE) TO ('2026-02-01')", undefined],
  [range('month'), 'DEFAULT', undefined],
  [{ by: 'list', column: 'at' }, "FOR VALUES IN ('O''x, y')", "O'x, y"],
  [{ by: 'list', column: 'at' }, 'FOR VALUES IN (-5)', '-5'],
  [{ by: 'list', column: 'at' }, "FOR VALUES IN ('a', 'b')", undefined],
  [{ by: 'list', column: 'at' }, 'FOR VALUES IN (1, 2)', undefined],
  [{ by: 'list', column: 'at' }, 'FOR VALUES IN (NULL)', undefined],
  [{ by: 'hash', column: 'id', partitions: 8 }, 'FOR VALUES WITH (modulus 8, remainder 3)', '3'],
  [{ by: 'hash', column: 'id', partitions: 8 }, 'FOR VALUES WITH (modulus 4, remainder 3)', undefined],
])('keyOfBound of %j: %s is %s', (spec, bound, key) => expect(keyOfBound(spec, bound)).toBe(key));
