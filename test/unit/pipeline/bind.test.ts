// bindPipeline() parses parameters with the pipeline's Zod object and passes them to its tables.

import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { column, csv, definePipeline } from '../../../src/pipeline/authoring.ts';
import { bindPipeline } from '../../../src/pipeline/bind.ts';
import type { AnyColumn } from '../../../src/pipeline/declare/column.ts';

const source = csv('a.csv');

describe('parameters', () => {
  const yearly = definePipeline({
    name: 'yearly',
    schema: 's',
    params: z.object({ year: z.coerce.number().int().min(1900), region: z.string().default('all') }),
    tables: ({ year, region }) => ({
      [`t_${region}`]: { source: csv(`${year}.csv`), columns: { a: column.text('A') } },
    }),
  });
  const plain = definePipeline({
    name: 'plain',
    schema: 's',
    tables: { t: { source, columns: { a: column.text('A') } } },
  });

  it('are read by the schema and given to the tables', () => {
    const spec = bindPipeline(yearly, { params: { year: '2011' }, directory: '/d' });
    expect(spec).toMatchObject({
      name: 'yearly',
      schema: 's',
      directory: '/d',
      params: { year: 2011, region: 'all' },
    });
    expect(spec.tables).toMatchObject([
      { name: 't_all', readings: [{ source: { locations: ['2011.csv'] } }] },
    ]);
  });

  const secret = z.string().meta({ secret: true });
  it.each([
    { name: 'plain', schema: secret },
    { name: 'optional', schema: secret.optional() },
    { name: 'with a default', schema: secret.default('none') },
    { name: 'nullable and checked', schema: secret.nullable().refine((text) => text !== '') },
    { name: 'transformed', schema: secret.transform((text) => text.length) },
    { name: 'that says so last', schema: z.string().optional().meta({ secret: true }) },
  ])('that are secret, $name, are used and not shown', ({ schema }) => {
    const pipeline = definePipeline({
      name: 'p',
      schema: 's',
      params: z.object({ token: schema, year: z.string() }),
      tables: () => ({ t: { source, columns: { a: column.text('A') } } }),
    });
    const spec = bindPipeline(pipeline, { params: { token: 'sesame', year: '2011' }, directory: '/' });
    expect({ used: spec.params['token'], shown: spec.shownParams }).toEqual({
      used: schema.parse('sesame'),
      shown: { token: '***', year: '2011' },
    });
  });

  it('are pinned so that a later run gets the same: given ones as given, defaults by value, secret ones not at all', () => {
    let day = 'monday';
    const pipeline = definePipeline({
      name: 'p',
      schema: 's',
      params: z.object({
        size: z.string().transform(Number),
        day: z.string().default(() => day),
        from: z.coerce.date(),
        ends: z.date().default(new Date(0)),
        token: z.string().meta({ secret: true }).default('none'),
      }),
      tables: () => ({ t: { source, columns: { a: column.text('A') } } }),
    });
    const params = { size: '2', from: new Date('2026-01-01') };
    const { pinnedParams } = bindPipeline(pipeline, { params, directory: '/' });
    expect(pinnedParams).toEqual({ size: '2', day: 'monday', from: '2026-01-01T00:00:00.000Z' });
    day = 'tuesday';
    const again = bindPipeline(pipeline, { params: pinnedParams, directory: '/' }).params;
    expect(again).toMatchObject({ size: 2, day: 'monday', from: new Date('2026-01-01') });
  });

  it.each([
    { name: 'missing', pipeline: yearly, params: {}, message: 'pipeline yearly: parameter year: is missing' },
    {
      name: 'unknown',
      pipeline: yearly,
      params: { yaer: '2011' },
      message: 'pipeline yearly: parameter yaer: is unknown; did you mean `year`?',
      hint: expect.stringMatching(/^Use its parameters: `--param year=value`/),
    },
    {
      name: 'not valid',
      pipeline: yearly,
      params: { year: '1066' },
      message: 'pipeline yearly: parameter year: Too small: expected number to be >=1900',
    },
    {
      name: 'given to a pipeline that takes none',
      pipeline: plain,
      params: { year: '1' },
      message: 'pipeline plain: parameter year: is unknown; this pipeline has no parameters',
      hint: 'Leave it out.',
    },
  ])('$name', ({ pipeline, params, message, hint = 'Give it as `--param year=value`.' }) =>
    expect(() => bindPipeline(pipeline, { params, directory: '/d' })).toThrow(
      expect.objectContaining({ code: 'ETL_PARAM', message, hint }),
    ),
  );

  it.each([
    {
      name: 'tables that are not valid are found when bound',
      region: 'x'.repeat(64),
      problem: `\n  table t_${'x'.repeat(64)}: the name \`t_${'x'.repeat(64)}\` is 66 bytes long, and PostgreSQL cuts names at 63; shorten it`,
    },
  ])('$name', ({ region, problem }) =>
    expect(() => bindPipeline(yearly, { params: { year: '2011', region }, directory: '/d' })).toThrow(
      expect.objectContaining({ code: 'ETL_DEFINITION', message: `pipeline yearly is not valid:${problem}` }),
    ),
  );

  it('a function of the parameters that throws is named', () => {
    const broken = definePipeline({
      name: 'broken',
      schema: 's',
      params: z.object({}),
      tables: (): { t: { source: typeof source; columns: { a: AnyColumn } } } => {
        throw new Error('no such region');
      },
    });
    expect(() => bindPipeline(broken, { directory: '/d' })).toThrow(
      expect.objectContaining({
        code: 'ETL_DEFINITION',
        message: 'pipeline broken is not valid:\n  tables(params) failed: no such region',
      }),
    );
  });
});
