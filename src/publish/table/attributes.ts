// All attributes that a declaration may set. A new attribute gets a line here.

import type { Client } from '../../db/client.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import type { Attribute, Declared, Setting } from './attribute.ts';
import { identity } from './server-columns.ts';
import { storage } from './storage.ts';
import { tablespace } from './tablespace.ts';

const comments: Attribute = {
  ofWhole: true,
  ofPart: false,
  blocksReaders: false,

  // Reads the catalogue, because obj_description and col_description would run one query per column
  // of each partition.
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

/** Statistics targets. Partitions get those of their table. */
const statistics: Attribute = {
  ofWhole: true,
  ofPart: true,
  blocksReaders: false,

  select: (oid) => `
    select 'statistics ' || attname, attstattarget::text
      from pg_attribute where attrelid = ${oid} and attnum > 0 and not attisdropped and attstattarget >= 0`,

  settings: ({ attributes }) =>
    Object.entries(attributes?.statistics ?? {}).map(([column, target]) => ({
      key: `statistics ${column}`,
      value: String(target),
      sql: (table) => `alter table ${table} alter column ${quoteName(column)} set statistics ${target}`,
    })),
};

const attributes: readonly Attribute[] = [comments, statistics, storage, tablespace, identity];

/** An ordinary table, a partitioned table itself, or one partition. */
export type Part = 'table' | 'whole' | 'part';

export const attributesOf = (part: Part): readonly Attribute[] =>
  attributes.filter(({ ofWhole, ofPart }) => part === 'table' || (part === 'whole' ? ofWhole : ofPart));

export const attributeList = (oid: string): string =>
  `coalesce((select json_object_agg(key, value) from (${attributes.map(({ select }) => select(oid)).join(' union all ')}) a (key, value)
      where value is not null), '{}')`;

export const declaredOn = (name: string, declared: Declared, part: Part): readonly string[] =>
  attributesOf(part).flatMap(({ settings }) => settings(declared, {}).map(({ sql }) => `${sql(name)};`));

export const setDeclared = async (
  client: Client,
  name: string,
  declared: Declared,
  part: Part,
): Promise<void> => {
  const statements = declaredOn(name, declared, part);
  if (statements.length > 0) await client.query(statements.join('\n'));
};
