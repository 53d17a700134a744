// Staging tables: unique names, and COPY in the file's own dialect.

import { describe, expect, it } from 'vitest';
import { copyText, copyVerbatim, createStaging, dropStaging, stagingTable } from '../../../src/db/staging.ts';
import type { CsvOptions } from '../../../src/pipeline/declare/csv.ts';
import { tableOf } from '../format/records/reading.ts';

const columns = [
  { name: 'a', type: 'text' },
  { name: 'odd "name"', type: 'numeric(5,2)' },
];

const oneLine = (text: string): string => text.replace(/\s+/g, ' ');

describe('staging', () => {
  it('has a name of its own that the server does not cut, also in the rehearsal of a pipeline with a shorter name', () => {
    const names = ['a', 'b'].map((end) => stagingTable('r0a1b2c_', `${'x'.repeat(59)}${end}`));
    expect(names).toEqual(names.map(() => expect.stringMatching(/^"etl_staging"\."r0a1b2c___x{44}_.{8}"$/)));
    expect(names[0]).not.toBe(names[1]);
  });

  it('is unlogged, in its own schema, with every name quoted', () => {
    expect(oneLine(createStaging('p', 't', columns).text)).toBe(
      'create unlogged table "etl_staging"."p__t" ( "a" text, "odd ""name""" numeric(5,2) ) with (autovacuum_enabled = false)',
    );
    expect(dropStaging('p', 't').text).toBe('drop table if exists "etl_staging"."p__t"');
    expect(copyText(stagingTable('p', 't'), columns)).toBe(
      'copy "etl_staging"."p__t" ("a", "odd ""name""") from stdin',
    );
  });

  const dialects: readonly { name: string; options: CsvOptions; says: string }[] = [
    { name: 'RFC 4180', options: {}, says: `(format csv, delimiter ',', quote '"', escape '"', null '')` },
    {
      name: 'a tab, no quote',
      options: { delimiter: '\t', quote: null },
      says: `(format csv, delimiter '\t', quote '\u0001', escape '\u0001', null '')`,
    },
    {
      name: 'an apostrophe, a backslash',
      options: { quote: "'", escape: '\\' },
      says: `(format csv, delimiter ',', quote '''', escape  E'\\\\', null '')`,
    },
  ];
  it.each(dialects)('COPY of $name', ({ options, says }) => {
    expect(copyVerbatim(stagingTable('p', 't'), columns, tableOf(options).format.dialect)).toBe(
      `copy "etl_staging"."p__t" ("a", "odd ""name""") from stdin with ${says}`,
    );
  });
});
