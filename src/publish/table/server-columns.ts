// Identity columns and generated columns, which the server fills.
//
// `create table as` cannot declare these columns. So they are added after the rows, follow the
// columns of the files, and make the server write the table a second time. Identity columns
// continue with the numbers of production's sequence.

import type { AttributesSpec, ServerColumnSpec } from '../../core/shape.ts';
import { runQuery, withPath, withTransaction, type Client } from '../../db/client.ts';
import { quoteName, quoteText } from '../../db/sql.ts';
import { builtName, productionName, type TableNames } from '../../db/names.ts';
import type { Attribute } from './attribute.ts';
import { onPath } from './constraints.ts';

export const serverColumnsOf = (attributes: AttributesSpec | undefined): readonly ServerColumnSpec[] =>
  attributes?.serverColumns ?? [];

const typeOf = (column: ServerColumnSpec): string => (column.kind === 'identity' ? 'bigint' : column.type);

/** Returns the clause that declares a column. `options`: of an identity column's sequence. */
export const columnClause = (column: ServerColumnSpec, options = ''): string => {
  const name = quoteName(column.name);
  return column.kind === 'identity'
    ? `${name} bigint generated ${column.when} as identity${options}`
    : // A comment at its end must not take the parenthesis.
      `${name} ${column.type} generated always as (${column.expression}\n) stored`;
};

/** For messages: "generated column total (price * pieces)". */
export const columnText = (column: ServerColumnSpec): string =>
  column.kind === 'identity'
    ? `identity column ${column.name}`
    : `generated column ${column.name} (${column.expression})`;

/**
 * Numbers of an identity column. `options` continue production's sequence; `restart` uses `start`.
 */
interface Numbering {
  readonly options: string;
  readonly start: string;
}

const numberingOf = async (
  client: Client,
  names: TableNames,
  column: string,
): Promise<Numbering | undefined> => {
  const { rows } = await client.query(
    `select s.seqrelid::regclass::text as name, s.seqstart::text as start, s.seqincrement::text as increment, format('increment by %s minvalue %s maxvalue %s cache %s%s',
        s.seqincrement, s.seqmin, s.seqmax, s.seqcache, case when s.seqcycle then ' cycle' else '' end) as options
      from pg_attribute a join pg_sequence s on s.seqrelid = pg_get_serial_sequence($1, a.attname)::regclass
      where a.attrelid = to_regclass($1) and a.attname = $2 and a.attidentity <> ''`,
    [productionName(names), column],
  );
  if (rows.length === 0) return undefined;
  const { name, start, increment, options } = rows[0];
  const next = await client.query(
    `select last_value + case when is_called then $1::bigint else 0 end as next from ${name}`,
    [increment],
  );
  return { start, options: ` (start with ${next.rows[0].next} ${options})` };
};

export const addServerColumns = async (client: Client, names: TableNames): Promise<void> => {
  for (const column of serverColumnsOf(names.attributes)) {
    const numbering = column.kind === 'identity' ? await numberingOf(client, names, column.name) : undefined;
    const add = `alter table ${builtName(names)} add column ${columnClause(column, numbering?.options)}`;
    await runQuery(client, onPath(names.path, add));
    if (numbering !== undefined)
      await client.query(
        `alter table ${builtName(names)} alter column ${quoteName(column.name)} set start with ${numbering.start}`,
      );
  }
};

/** Drops columns whose old values were copied. They are added again later. */
export const dropServerColumns = async (client: Client, names: TableNames): Promise<void> => {
  for (const { name } of serverColumnsOf(names.attributes))
    await client.query(`alter table ${builtName(names)} drop column if exists ${quoteName(name)}`);
};

export const serverValues = (attributes: AttributesSpec | undefined): readonly string[] =>
  serverColumnsOf(attributes).map((column) => {
    const value = column.kind === 'identity' ? 'null' : `(${column.expression}\n)`;
    return `${value}::${typeOf(column)} as ${quoteName(column.name)}`;
  });

export const withServerColumns = (like: string, attributes: AttributesSpec | undefined): string => {
  const values = serverValues(attributes);
  return values.length === 0 ? like : `(select ${['t.*', ...values].join(', ')} from ${like} t) t`;
};

export const writtenTypes = async (
  client: Client,
  path: readonly string[],
  types: readonly string[],
): Promise<readonly string[]> => {
  if (types.length === 0) return [];
  const nulls = types.map((type) => `null::${type}`).join(', ');
  const { fields } = await withTransaction(client, () =>
    withPath(client, path, () => client.query(`select ${nulls} limit 0`)),
  );
  const { rows } = await client.query(
    'select format_type(t.oid, t.size) as type from unnest($1::oid[], $2::integer[]) with ordinality as t (oid, size, place) order by place',
    [fields.map((field) => field.dataTypeID), fields.map((field) => field.dataTypeModifier)],
  );
  return rows.map(({ type }) => type);
};

/**
 * Attribute of an identity column: may an insert supply its own number (`by default`), or not
 * (`always`)?
 */
export const identity: Attribute = {
  ofWhole: true,
  ofPart: false,
  blocksReaders: true,

  select: (oid) => `
    select 'identity ' || attname, case attidentity when 'a' then ${quoteText('always')} else ${quoteText('by default')} end
      from pg_attribute where attrelid = ${oid} and attnum > 0 and not attisdropped and attidentity <> ''`,

  settings: ({ attributes }) =>
    serverColumnsOf(attributes).flatMap((column) =>
      column.kind === 'identity'
        ? [
            {
              key: `identity ${column.name}`,
              value: column.when,
              sql: (table: string) =>
                `alter table ${table} alter column ${quoteName(column.name)} set generated ${column.when}`,
            },
          ]
        : [],
    ),
};
