// All attributes that a declaration may set. A new attribute is a file beside this one and a line
// here.

import type { Client } from '../../db/client.ts';
import { comments } from './comments.ts';
import type { Attribute, Declared } from './contract.ts';
import { identity } from './server-columns.ts';
import { statistics } from './statistics.ts';
import { storage } from './storage.ts';
import { tablespace } from './tablespace.ts';

const attributes: readonly Attribute[] = [comments, statistics, storage, tablespace, identity];

/** An ordinary table, a partitioned table itself, or one partition. */
export type Part = 'table' | 'whole' | 'part';

export const attributesOf = (part: Part): readonly Attribute[] =>
  attributes.filter(({ ofWhole, ofPart }) => part === 'table' || (part === 'whole' ? ofWhole : ofPart));

/** SQL: the attributes of the table with this oid, as a JSON object of texts. */
export const attributeList = (oid: string): string =>
  `coalesce((select json_object_agg(key, value) from (${attributes.map(({ select }) => select(oid)).join(' union all ')}) a (key, value)
      where value is not null), '{}')`;

/** Statements that set the declared attributes on a new table. `name`: quoted name. */
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
