// Tests declared attributes before anything is loaded: creates an empty table, then rolls back.

import { ensureSchema, withPath, withRollback, type Client } from '../../db/client.ts';
import { quoteName } from '../../db/sql.ts';
import { hintOf, isRefusal } from '../../db/connect/server-error.ts';
import { EtlError, messageOf } from '../../core/errors/errors.ts';
import type { DeclaredTable } from '../table/tables.ts';
import { declaredOn } from '../table/attributes.ts';
import { columnClause, serverColumnsOf } from '../table/server-columns.ts';
import { storageClause } from '../table/storage.ts';

/**
 * Tests the attributes. `like`: quoted name of a table with these columns, if known. Errors:
 * ETL_ATTRIBUTE_REFUSED.
 */
export const probeAttributes = async (
  client: Client,
  table: DeclaredTable,
  like: string | undefined,
): Promise<void> => {
  const { attributes, buildSchema } = table;
  if (attributes === undefined) return;
  const name = quoteName(buildSchema, 'etl_probe');
  const space = attributes.tablespace === undefined ? '' : ` tablespace ${quoteName(attributes.tablespace)}`;
  // Without columns, attributes of columns cannot be tested.
  const { columnComments: _comments, statistics: _statistics, ...ofTable } = attributes;
  const statements = [
    `create table ${name} (${like === undefined ? '' : `like ${like}`})${storageClause(attributes)}${space}`,
    ...(like === undefined ? [] : serverColumnsOf(attributes)).flatMap((column) => [
      // An earlier attempt may have added the column, if it loaded directly into the new table.
      `alter table ${name} drop column if exists ${quoteName(column.name)}`,
      `alter table ${name} add column ${columnClause(column)}`,
    ]),
    ...declaredOn(name, { attributes: like === undefined ? ofTable : attributes }, 'table'),
  ];
  await withRollback(client, async () => {
    await ensureSchema(client, buildSchema);
    await withPath(client, table.path, async () => {
      for (const statement of statements)
        await client.query(statement).catch((cause: unknown) => {
          if (!isRefusal(cause)) throw cause;
          const details = {
            table: table.table,
            statement: statement.replace(name, quoteName(table.schema, table.table)),
            problem: messageOf(cause),
            hint: hintOf(cause),
          };
          throw new EtlError('ETL_ATTRIBUTE_REFUSED', details, { cause });
        });
    });
  });
};
