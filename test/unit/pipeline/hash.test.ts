// definitionHash() differs exactly if a change of the definition can change the result of a run.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import {
  column,
  csv,
  definePipeline,
  index,
  present,
  sqlFile,
  when,
} from '../../../src/pipeline/authoring.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import type { AnyColumn } from '../../../src/pipeline/declare/column.ts';
import { definitionHash, stagedHashes } from '../../../src/pipeline/hash.ts';

interface Variant {
  readonly made?: AnyColumn;
  readonly more?: object;
  readonly schema?: string;
  readonly searchPath?: readonly string[];
  readonly rejectLimit?: number;
  readonly sqlText?: string;
  readonly directory?: string;
  readonly year?: number;
}

const bound = ({
  made = column.text('A'),
  more = {},
  schema = 's',
  searchPath = [],
  rejectLimit,
  directory = '/d',
  year = 1,
}: Variant) => {
  const pipeline = definePipeline({
    name: 'p',
    schema,
    searchPath,
    ...(rejectLimit !== undefined && { rejectLimit }),
    params: z.object({ year: z.number() }),
    tables: () => ({
      t: { source: csv('a.csv'), columns: { a: made }, ...more },
      d: { from: ['t'], transform: sqlFile('d.sql') },
    }),
  });
  return bindPipeline(pipeline, { params: { year }, directory });
};

const hashOf = ({ sqlText = 'select 1', ...variant }: Variant) =>
  definitionHash(bound(variant), new Map([['d', sqlText]]));

const base = hashOf({});

describe('definitionHash', () => {
  it('is 64 hex digits', () => expect(base).toMatch(/^[0-9a-f]{64}$/));

  const same: readonly (Variant & { name: string })[] = [
    { name: 'said again' },
    { name: 'from another directory', directory: '/elsewhere' },
    { name: 'with a default written out', more: { publish: 'replace' } },
  ];
  it.each(same)('stays: $name', (variant) => expect(hashOf(variant)).toBe(base));

  const other: readonly (Variant & { name: string })[] = [
    { name: 'another column type', made: column.smallint('A') },
    { name: 'another search path', searchPath: ['public'] },
    { name: 'an option', made: column.numeric('A', { scale: 2, precision: 4 }) },
    { name: 'a check', made: column.text('A').check((a) => a !== '', 'empty') },
    { name: 'the body of a check', made: column.text('A').check((a) => a !== 'x', 'empty') },
    { name: 'a rule', made: column.text('A').oneOf(['a']) },
    { name: 'a value of a rule', made: column.text('A').oneOf(['a', 'b']) },
    { name: 'the pattern of a rule', made: column.text('A').pattern(/a/) },
    { name: 'the flags of a rule', made: column.text('A').pattern(/a/i) },
    { name: 'a length', made: column.text('A').length({ min: 1 }) },
    { name: 'a schema', made: column.text('A').zod(z.string().min(1)) },
    { name: 'a bound of the schema', made: column.text('A').zod(z.string().min(2)) },
    { name: 'a refinement of the schema', made: column.text('A').zod(z.string().refine((a) => a !== 'x')) },
    { name: 'the body of a refinement', made: column.text('A').zod(z.string().refine((a) => a !== 'y')) },
    { name: 'a pattern of the schema', made: column.text('A').zod(z.string().regex(/a/)) },
    { name: 'the flags of a pattern', made: column.text('A').zod(z.string().regex(/a/i)) },
    { name: 'values of the schema', made: column.text('A').zod(z.enum(['a', 'b'])) },
    { name: 'other values of the schema', made: column.text('A').zod(z.enum(['a', 'c'])) },
    { name: 'a dialect', more: { source: csv('a.csv', { trim: true }) } },
    { name: 'a path', more: { source: csv('b.csv') } },
    { name: 'an index', more: { indexes: [index('a')] } },
    { name: 'a filter', more: { filter: when((fields) => fields.A !== null, ['A']) } },
    { name: 'a reject limit', more: { rejectLimit: 1 } },
    { name: 'a reject limit of the run', rejectLimit: 1 },
    { name: 'a guard', more: { guard: false } },
    { name: 'another schema', schema: 'other' },
    { name: 'the SQL', sqlText: 'select 2' },
    { name: 'a parameter', year: 2 },
  ];
  it.each(other)('changes: $name', (variant) => expect(hashOf(variant)).not.toBe(base));

  it('differs for all of these', () => expect(new Set(other.map(hashOf)).size).toBe(other.length));
});

describe('stagedHashes', () => {
  const places: readonly Variant[] = [{ schema: 'other' }, { searchPath: ['public'] }];
  it.each(places)('change with %o for columns of the server’s types only', (place) => {
    const mood = column.of('mood', 'A');
    expect(stagedHashes(bound({ made: mood, ...place }))).not.toEqual(stagedHashes(bound({ made: mood })));
    expect(stagedHashes(bound(place))).toEqual(stagedHashes(bound({})));
  });

  it.each<Variant & { name: string }>([
    { name: 'a filter', more: { filter: present('A') } },
    { name: 'a parameter', year: 2 },
    { name: 'a column', made: column.integer('A') },
    { name: 'what a missing column is', more: { missing: 'null' } },
    { name: 'a trailer', more: { source: csv('a.csv', { skipEnd: 1 }) } },
    { name: 'a dialect', more: { source: csv('a.csv', { delimiter: ';' }) } },
    { name: 'how rows are staged', more: { staging: 'none' } },
  ])('change with $name', (variant) => {
    expect(stagedHashes(bound(variant))).not.toEqual(stagedHashes(bound({})));
  });
});
