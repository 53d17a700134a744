// Refuses to load a table again if rows would be lost: rows of unlisted files, or rows that came
// from no file.

import { rowsOfOthers, type FilesOf } from '../../ledger/production/published-files.ts';
import { selectRecorded, type Recorded } from '../../ledger/production/published-tables.ts';
import type { SourceTableSpec } from '../../core/declaration.ts';
import { runQuery, type Client } from '../../db/client.ts';
import { countRows, isFilled } from '../../db/rows.ts';
import { quoteName } from '../../db/sql.ts';
import { EtlError } from '../../core/errors/errors.ts';
import { fileColumn } from '../../db/names.ts';
import { meaningOf } from '../../publish/modes/meanings.ts';
import { bringsAllRows } from '../../publish/table/production.ts';
import type { Basis, Judging } from './sieve.ts';
import { plural } from '../../core/wording.ts';

const knowsFiles = async (client: Client, name: string): Promise<boolean> =>
  (
    await client.query(
      `select exists (select from pg_attribute where attrelid = to_regclass($1) and attname = $2 and not attisdropped) as "knows"`,
      [name, fileColumn],
    )
  ).rows[0].knows;

/** Counts rows of no run: rows with an unknown file, or rows beyond the recorded number. */
const rowsOfNoRun = async (
  client: Client,
  { schema, table }: FilesOf,
  publish: SourceTableSpec['publish'],
): Promise<number> => {
  const name = quoteName(schema, table);
  // Merged rows are not counted by file: some still name a version of a file that was replaced.
  if (meaningOf(publish).rowsKnownBy === 'file' && (await knowsFiles(client, name))) {
    // Counted first, because Citus joins no distributed table with a local one here.
    const { rows } = await client.query(
      `with o as materialized (select ${quoteName(fileColumn)} as id, count(*) as rows from ${name} group by 1)
        select coalesce(sum(rows), 0)::float8 as rows from o where not exists (
          select from etl.published_file where file_id = o.id and schema_name = $1 and table_name = $2)`,
      [schema, table],
    );
    return rows[0].rows;
  }
  const recorded: Recorded | null = (await runQuery(client, selectRecorded(schema, table))).rows[0]?.recorded;
  // The recorded number is useless if people have dropped or attached partitions since.
  return recorded?.isWhole === true ? (await countRows(client, name)) - recorded.rows : 0;
};

const lossOf = async (
  client: Client,
  publish: SourceTableSpec['publish'],
  of: FilesOf,
  listed: readonly number[],
): Promise<string | undefined> => {
  const { schema, table } = of;
  const name = quoteName(schema, table);
  if (!(await isFilled(client, name))) return undefined;
  const others = await rowsOfOthers(client, of, listed);
  const parts = others.map(({ pipeline, files, rows, first }) => {
    const whose = pipeline === of.pipeline ? '' : ` of pipeline ${pipeline}`;
    return `${plural(rows, 'row')} of ${plural(files, 'file')}${whose} that it does not list, such as ${first}`;
  });
  if (parts.length > 0) return parts.join('; ');
  const { lostByRefresh } = meaningOf(publish);
  if (lostByRefresh !== undefined) return lostByRefresh;
  const { rows } = await client.query(
    `select exists (select from etl.published_table where table_oid = to_regclass($1) and ${bringsAllRows}) as "isOurs"`,
    [name],
  );
  if (!rows[0].isOurs) return 'rows of no file: no run has made the table';
  const ownerless = await rowsOfNoRun(client, of, publish);
  return ownerless > 0 ? `${plural(ownerless, 'row')} that no run has loaded` : undefined;
};

/**
 * Fails if a full refresh would delete rows of no listed file; if `allowShrink` names the table,
 * only reports them. `said`: reported before, because this is called twice in a run. Errors:
 * ETL_ROWS_LOST.
 */
export const refuseLoss = async (
  { client, allowShrink, report }: Pick<Judging, 'client' | 'allowShrink' | 'report'>,
  { publish }: SourceTableSpec,
  of: FilesOf,
  { listed, said }: Pick<Basis, 'listed' | 'said'>,
): Promise<void> => {
  const { schema, table } = of;
  const problem = await lossOf(client, publish, of, listed);
  if (problem === undefined || said.has(problem)) return;
  if (!allowShrink.includes(table)) throw new EtlError('ETL_ROWS_LOST', { table, problem });
  said.add(problem);
  report.emit({
    type: 'notice',
    message: `${schema}.${table}: loading everything again deletes ${problem}`,
  });
};
