// A plan names `staging: 'none'` with the seconds by the figures of an earlier run, and only if nothing in the definition needs staging.

import { expect, it } from 'vitest';
import { column, csv, definePipeline, planPipeline, type Pipeline } from '../../src/index.ts';
import { usePipelineRuns } from '../helpers/pipeline-runs.ts';

const { files, rowsOf, run, settings } = usePipelineRuns();

const shop = (change: object = {}): Pipeline =>
  definePipeline({
    name: 'shop',
    schema: 'shop',
    tables: {
      sale: { source: csv('sale.csv'), columns: { id: column.integer('id') }, primaryKey: ['id'], ...change },
      item: { source: csv('sale.csv'), columns: { id: column.integer('id') }, publish: 'append' },
    } as never,
  });

const noticesOf = async (pipeline: Pipeline): Promise<readonly string[]> => {
  const { outcome, notices } = await planPipeline(pipeline, { ...settings(), fullRefresh: true });
  expect(outcome).toBe('load');
  return notices.filter((text) => text.includes('staging'));
};

it('of the newest run with advice, in its words', async () => {
  files.write('sale.csv', 'id\n1\n2\n');
  expect(await noticesOf(shop())).toEqual([]);
  const { runId, profile } = await run(shop(), { profile: true });
  expect(profile!.advice.length).toBeGreaterThan(0);
  const said = "staging: 'none' for sale would save about 2.4 s of 20.1 s: rows are written once then.";
  const advise = (texts: readonly string[]) =>
    rowsOf(
      `update etl.run set advice = array[${texts.map((text) => `$$${text}$$`).join(', ')}] where id = ${runId}`,
    );

  await advise(['Decoding is the limit.', said]);
  expect(await noticesOf(shop())).toEqual([`by the figures of run ${runId}, ${said}`]);
  expect(await noticesOf(shop({ staging: 'none' }))).toEqual([]);

  // Its figure is for other tables than those that could do without staging now.
  await advise([said.replace('sale', 'sale, item')]);
  expect(await noticesOf(shop())).toEqual([]);
  await advise([said]);
  const next = await run(shop(), { fullRefresh: true, profile: true });
  await rowsOf(`update etl.run set advice = array['Decoding is the limit.'] where id = ${next.runId}`);
  expect(await noticesOf(shop())).toEqual([]);
});
