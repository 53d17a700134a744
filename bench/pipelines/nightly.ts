// Records that come every night into a table of one of the shapes: they are put to the ones that are there, take their places, or
// end their versions.

import { csv, definePipeline } from 'sluice';
import { z } from 'zod';
import * as events from '../shapes/events.ts';
import * as gtfs from '../shapes/gtfs.ts';
import * as orders from '../shapes/orders.ts';

const shapes = { orders, gtfs, events };

export default definePipeline({
  name: 'bench_nightly',
  schema: 'bench_nightly',
  params: z.object({
    table: z.enum(['orders', 'gtfs', 'events']),
    files: z.string(),
    publish: z.enum(['append', 'merge', 'history']),
  }),
  tables: ({ table, files, publish }) => {
    const { columns, primaryKey } = shapes[table];
    // Each shape's key is of its own columns, which a union of them does not say.
    return { night: { source: csv(files), columns, primaryKey, publish } as never };
  },
});
