// What a plan says of the way from a file to staging.

import { gzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { column, csv, definePipeline, when } from '../../../../src/index.ts';
import { makePlan } from '../../../../src/tools/make-plan.ts';
import { useFiles } from '../../../helpers/files.ts';

const files = useFiles();
const records = `id,n,d,word\n${'1,2,2024-01-01,w\n'.repeat(5_000)}`;

const steps = async (source: string, columns: object, more: object = {}): Promise<string[]> => {
  const pipeline = definePipeline({
    name: 'planned',
    schema: 'planned',
    tables: { t: { source: csv(`${files.directory}/${source}`), columns, ...more } },
  } as never);
  const options = { workers: 2, chunkBytes: 1_000 };
  const { plan } = await makePlan(pipeline, options, () => Promise.resolve(undefined));
  return plan.tables[0]!.steps.map(
    ({ step, text }) => `${step}: ${text.replaceAll(`${files.directory}/`, '')}`,
  );
};

it('says which streams all workers load, and which one worker', async () => {
  files.write('large.csv.gz', gzipSync(records));
  files.write('even_1.csv.gz', gzipSync(records));
  files.write('even_2.csv.gz', gzipSync(records));
  const columns = { id: column.integer('id') };
  const shared = 'stream: read once, loaded by all workers: large.csv.gz';
  expect(await steps('large.csv.gz', columns)).toContain(shared);
  const apart = 'stream: loaded by one worker each: 2 files';
  expect(await steps('even_*.csv.gz', columns)).toContain(apart);
  files.write('plain.csv', records);
  expect((await steps('plain.csv', columns)).filter((text) => text.startsWith('stream'))).toEqual([]);
});

it('counts the columns that a merge adds to staging, and names none of them', async () => {
  files.write('plain.csv', records);
  const more = {
    primaryKey: ['id'],
    publish: { mode: 'merge', deleted: when(({ word }) => word === 'D', ['word']) },
  };
  const said = await steps('plain.csv', { id: column.integer('id'), n: column.integer('n') }, more);
  expect(said).toContain('columns: read in JavaScript, which is slower: publish.deleted');
  expect(said).toContain('staging: unlogged, 2 columns and 3 for the merge');
});

it('says which columns are read in JavaScript, and why', async () => {
  const id = column.integer('id').min(1);
  const usual = await steps('plain.csv', { id, d: column.date('d') });
  expect(usual.filter((text) => text.startsWith('columns'))).toEqual([]);
  const columns = {
    id: id.check((value) => value > 0, 'must be positive'),
    n: column.real('n', { percent: 'share' }),
    d: column.date('d').map((text: string) => text),
    word: column.text('word').pattern(/^w/).oneOf(['w']),
  };
  const said =
    'columns: read in JavaScript, which is slower: id (.check), n (its spelling), d (.map), word (.pattern)';
  expect(await steps('plain.csv', columns)).toContain(said);
  const served = { id: column.of('citext', 'id'), d: column.date('d', { format: 'YYYY-MM-DD' }) };
  expect(await steps('plain.csv', served)).toContain(
    'columns: read in JavaScript, which is slower: d (rewritten for the server)',
  );
});
