// Cities in partitions by their state, which every night replaces.

import { column, csv, definePipeline, list } from '../../src/index.ts';
import { beforeEach, expect } from 'vitest';
import { runWhile, type FaultProxy, type Point } from './fault-proxy.ts';
import { usePipelineRuns } from './pipeline-runs.ts';

const pipeline = definePipeline({
  name: 'cities',
  schema: 'geo',
  tables: {
    city: {
      source: csv('in/*.csv'),
      columns: { id: column.integer('id'), state: column.text('state'), name: column.text('name') },
      primaryKey: ['id', 'state'],
      partitionBy: list('state'),
      guard: false,
    },
  },
});

/** Runs of that pipeline, in an empty database for each test. */
export const useDividedCities = () => {
  const runs = usePipelineRuns();
  beforeEach(() => runs.startOver('geo'));
  const night = (text: string, options: object = {}) => {
    runs.files.write('in/a.csv', `id,state,name\n1,HE,${text}\n2,HE,${text}\n3,BY,${text}\n`);
    return runs.run(pipeline, options);
  };
  return {
    ...runs,
    /** Replaces all cities: three of two states, each called after the night. */
    night,
    /** A night that publishes although somebody acts just before a statement that matches. */
    nightWhile: async (matches: Point['matches'], act: (proxy: FaultProxy) => Promise<unknown>) => {
      const working = (databaseUrl: string) => night('after', { databaseUrl });
      expect(await runWhile(runs.database.url, matches, act, working)).toMatchObject({
        outcome: 'published',
      });
    },
    /** Which table it is: another one after it was swapped. */
    oid: (name = 'geo.city') => runs.one(`select to_regclass('${name}')::oid as oid`),
  };
};
