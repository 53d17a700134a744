// Comments on a table and its columns.

import { quoteName, quoteText } from '../../db/sql.ts';
import type { Attribute, Setting } from './contract.ts';

export const comments: Attribute = {
  ofWhole: true,
  ofPart: false,
  blocksReaders: false,

  select: (oid) => `
    select 'comment', obj_description(${oid}, 'pg_class')
    union all
    select 'comment ' || attname, col_description(attrelid, attnum)
      from pg_attribute where attrelid = ${oid} and attnum > 0 and not attisdropped`,

  settings: ({ comment, attributes }) => [
    ...(comment === undefined
      ? []
      : [
          {
            key: 'comment',
            value: comment,
            sql: (table: string) => `comment on table ${table} is ${quoteText(comment)}`,
          },
        ]),
    ...Object.entries(attributes?.columnComments ?? {}).map(([column, text]): Setting => ({
      key: `comment ${column}`,
      value: text,
      sql: (table) => `comment on column ${table}.${quoteName(column)} is ${quoteText(text)}`,
    })),
  ],
};
