// Filters and other user functions: what they get, and what happens if they throw.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { EtlError } from '../../../../src/core/errors/errors.ts';
import { column } from '../../../../src/pipeline/declare/column.ts';
import { oneOf, present, when } from '../../../../src/pipeline/declare/filter.ts';
import { decode, texts, type Declared } from '../records/decoding.ts';

describe('filters', () => {
  const rows: readonly (Declared & { name: string; kept: readonly string[] })[] = [
    {
      name: 'present: neither blank nor a null token',
      filter: present('b'),
      options: { nulls: ['', 'M'] },
      kept: ['x', 'y', 'z'],
    },
    {
      name: 'present, no null tokens: blank is still not present',
      filter: present('b'),
      options: { nulls: [] },
      kept: ['x', 'y', 'z', 'm'],
    },
    { name: 'oneOf: trimmed', filter: oneOf('b', ['1', '2']), kept: ['x', 'y', 'z'] },
    {
      name: 'oneOf: a null token is none of them',
      filter: oneOf('b', ['M', '1']),
      options: { nulls: ['M'] },
      kept: ['x', 'y'],
    },
    {
      name: 'oneOf: a null token that has a blank is null before it is trimmed',
      filter: oneOf('b', ['1', '2']),
      options: { nulls: [' 1'], quotedNulls: true },
      kept: ['x', 'z'],
    },
    {
      name: 'when: fields by header, trimmed, null when missing',
      filter: when(({ a, b }) => b === null || a === 'z', ['a', 'b']),
      kept: ['e', 's', 'z'],
    },
    {
      name: 'several: all must want the record',
      filter: [present('b'), oneOf('a', ['e', 'x'])],
      kept: ['x'],
    },
  ];
  it.each(rows)('$name', async ({ kept, ...declared }) => {
    const { counts, rows: copied } = await decode('x,1\ny, 1\ne,\ns,  \nz,2\nm,M\n', {
      ...declared,
      columns: { a: column.text('a') },
    });
    expect(copied.flat()).toEqual(expect.arrayContaining([...kept]));
    expect(counts).toEqual({ records: 6, copied: kept.length, rejected: 0, filtered: 6 - kept.length });
  });

  it('drop a record before its columns are read', async () => {
    const { counts } = await decode('1,x\n2,y\n', {
      columns: { ...texts, b: column.smallint('b') },
      filter: oneOf('a', ['none']),
    });
    expect(counts).toEqual({ records: 2, copied: 0, rejected: 0, filtered: 2 });
  });

  it('do not excuse a record with another number of fields', async () => {
    const { counts } = await decode('1\n', { filter: oneOf('a', ['none']) });
    expect(counts).toEqual({ records: 1, copied: 0, rejected: 1, filtered: 0 });
  });
});

describe('a function of the pipeline that throws', () => {
  const fail = (): never => {
    throw new RangeError('it broke');
  };
  const rows: readonly (Declared & { name: string })[] = [
    { name: 'map', columns: { a: column.text('a').map(fail) } },
    { name: 'check', columns: { a: column.text('a').check(fail, 'never seen') } },
    { name: 'zod', columns: { a: column.text('a').zod(z.string().transform(fail)) } },
    { name: 'filter', filter: when(fail, ['a']) },
  ];
  it.each(rows)('$name: ETL_USER_FUNCTION names file and line', async (declared) => {
    const error: unknown = await decode('"\n",1,1\n1,2\n', declared).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(EtlError);
    const details = { table: 't', file: 'a.csv', line: 4, problem: 'it broke' };
    expect(error).toMatchObject({ code: 'ETL_USER_FUNCTION', details, cause: expect.any(RangeError) });
  });
});
