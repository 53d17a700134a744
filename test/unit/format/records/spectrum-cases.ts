// The csv-spectrum conformance set as dirty files. Every field is a text.

import { readFileSync, readdirSync } from 'node:fs';
import { column } from '../../../../src/pipeline/declare/column.ts';

const folder = 'test/fixtures/csv-spectrum';

export const spectrumCases = readdirSync(`${folder}/csvs`).map((file) => {
  const json = readFileSync(`${folder}/json/${file.replace('.csv', '.json')}`, 'utf8');
  const records = JSON.parse(json) as readonly Readonly<Record<string, string>>[];
  const places = Object.keys(records[0]!).map((_, index) => index + 1);
  return {
    name: `csv-spectrum, ${file}`,
    input: readFileSync(`${folder}/csvs/${file}`, 'utf8'),
    options: { nulls: [] },
    columns: Object.fromEntries(places.map((place) => [`c${place}`, column.text(place)])),
    rows: records.map((record) => Object.values(record)),
    rejects: [],
  };
});
