// The benchmark's pipeline of types that only the server reads: as such, with rules that find wrong texts before, or as texts.

import { column, csv, definePipeline } from 'sluice';
import { z } from 'zod';

const id = column.integer('id');
const key = column.uuid('key');

const served = {
  id,
  key,
  state: column.of('bench_types.state', 'state'),
  took: column.of('interval', 'took'),
  address: column.of('inet', 'address'),
  tags: column.of('integer[]', 'tags'),
  hash: column.of('bytea', 'hash'),
};

const declared = {
  served,
  labels: { ...served, state: served.state.oneOf(['open', 'paid', 'sent', 'back']) },
  patterns: {
    ...served,
    state: served.state.oneOf(['open', 'paid', 'sent', 'back']),
    took: served.took.pattern(/^\d+:\d\d:\d\d$/),
    address: served.address.pattern(/^(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)(?:\.|$)){4}$/),
    tags: served.tags.pattern(/^\{(?:\d+(?:,\d+)*)?\}$/),
  },
  texts: {
    id,
    key,
    state: column.text('state'),
    took: column.text('took'),
    address: column.text('address'),
    tags: column.text('tags'),
    hash: column.text('hash'),
  },
};

export default definePipeline({
  name: 'bench_served',
  schema: 'bench_served',
  params: z.object({ as: z.enum(['served', 'labels', 'patterns', 'texts']) }),
  tables: ({ as }) => ({
    visit: { source: csv('*served.csv'), rejectLimit: '100%', columns: declared[as] },
  }),
});
