// Comments on a table and on its columns.

import { quoteName, quoteText } from '../../db/sql.ts';
import type { Attribute, Setting } from './contract.ts';

export const comments: Attribute = {
  ofWhole: true,
  ofPart: false,
  blocksReaders: false,

  // Reads the catalogue, because obj_description and col_description start a query per call: one
  // for each column of each partition.
  select: (oid) => `
    select concat_ws(' ', 'comment', attname), description
      from pg_description left join pg_attribute on attrelid = objoid and attnum = objsubid
      where objoid = ${oid} and classoid = 'pg_class'::regclass`,

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
