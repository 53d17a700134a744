// Cities in partitions by their state, which every night replaces.

import { column, csv, definePipeline, list } from '../../src/index.ts';
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

/** Runs of that pipeline. */
export const useDividedCities = () => {
  const runs = usePipelineRuns();
  return {
    ...runs,
    /** Replaces all cities: three of two states, each called after the night. */
    night: (text: string, options: object = {}) => {
      runs.files.write('in/a.csv', `id,state,name\n1,HE,${text}\n2,HE,${text}\n3,BY,${text}\n`);
      return runs.run(pipeline, options);
    },
  };
};
