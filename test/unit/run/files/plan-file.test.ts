// Where the data of a file ends: before its trailer, however long the lines of that are.

import { expect, it } from 'vitest';
import { useFiles } from '../../../helpers/files.ts';
import { tableOf } from '../../format/records/reading.ts';
import { planFile } from '../read-table.ts';

const files = useFiles();
const data = 'id,a\n1,b\n2,c\n';

it.each([
  { name: 'a short trailer', trailer: ['TOTAL 2'] },
  { name: 'a trailer that is longer than the first look at the end', trailer: ['x'.repeat(70_000)] },
  { name: 'one of two such lines', trailer: ['x'.repeat(70_000), 'y'.repeat(600_000)] },
])('the end of the data $name', async ({ trailer }) => {
  const location = files.write('a.csv', `${data}${trailer.join('\n')}\n`);
  const table = tableOf({ skipEnd: trailer.length });
  const { file } = await planFile({ ...table, source: { ...table.source, locations: [location] } });
  expect(file.dataEnd).toBe(data.length);
});

it('a file says nothing of the other locations of its table, of which there may be thousands', async () => {
  const locations = ['a.csv', 'b.csv'].map((name) => files.write(name, data));
  const table = tableOf({});
  const { file } = await planFile({ ...table, source: { ...table.source, locations } });
  expect(file.location).toBe(locations[0]);
  expect(JSON.stringify(file)).not.toContain('b.csv');
});
