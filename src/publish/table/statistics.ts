// Statistics targets of columns: how closely `analyze` looks at their values. Partitions get the
// target of their table.

import { quoteName } from '../../db/sql.ts';
import type { Attribute } from './contract.ts';

export const statistics: Attribute = {
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
