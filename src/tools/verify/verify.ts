// Verifies production: recounts files independently of the load, and compares them with the rows.

import { filesOfOthers, standOf } from '../../ledger/production/loaded-files.ts';
import type { FilesOf } from '../../ledger/production/published-files.ts';
import { withTransaction, type Client } from '../../db/client.ts';
import { countRows } from '../../db/rows.ts';
import type { PipelineSpec, SourceTableSpec } from '../../core/declaration.ts';
import { EtlError } from '../../core/errors/errors.ts';
import type { Pipeline } from '../../pipeline/define-pipeline.ts';
import { secondsSince } from '../../core/amounts.ts';
import { stopSignal } from '../../core/stop.ts';
import { readDefinition } from '../../pipeline/definition.ts';
import { knowing } from '../file-states.ts';
import { refuseUnknownTables, resolveOptions, type RunSettings } from '../../run/options.ts';
import { filesInProduction, type KnownFile } from './known-files.ts';
import type { VerifiedTable, VerifyOptions, VerifyReport } from './report.ts';
import { textHash } from './text-hash.ts';
import { columnsInProduction, verifyTable, whyNotRows, type Production } from './verify-table.ts';
import { quoteName } from '../../db/sql.ts';
import { valueText, type ComparedColumn } from './compared-columns.ts';
import { decimalOf, type RowSums } from './row-sums.ts';

/** Row security must fail instead of hiding rows. Values must be printed as by print-value.ts. */
const readOnlySettings = `set transaction read only; set local row_security = off; set local statement_timeout to default;
  set local datestyle = 'ISO, MDY'; set local timezone = 'UTC'; set local extra_float_digits = 1; set local bytea_output = 'hex'`;

const readOnly = async (client: Client): Promise<void> => void (await client.query(readOnlySettings));

const hashProbe = 'sluice: Prüfsumme';

const serverHash = async (client: Client, text: string): Promise<bigint> =>
  BigInt(
    (await client.query('select hashtextextended($1::text collate "C", 0)::text as hash', [text])).rows[0]
      .hash,
  );

/** Returns the types of a table's columns by name. */
const columnsThere = async (
  client: Client,
  name: string,
): Promise<ReadonlyMap<string, string> | undefined> => {
  const { rows } = await client.query(
    `select to_regclass($1) is not null as "isThere", (
        select json_object_agg(attname, format_type(atttypid, atttypmod)) from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped
      ) as columns`,
    [name],
  );
  return rows[0].isThere ? new Map(Object.entries(rows[0].columns ?? {})) : undefined;
};

const turned = (hash: string, index: number): string => {
  const by = index % 64;
  const value = `coalesce(${hash}, 0)`;
  return by === 0 ? value : `((${value} << ${by}) | ((${value} >> ${64 - by}) & ${(1n << BigInt(by)) - 1n}))`;
};

const sumsSql = (
  name: string,
  columns: readonly ComparedColumn[],
  fileColumn: string | undefined,
  types: ReadonlyMap<string, string>,
): string => {
  const own = columns.map(({ spec }) => `t.${quoteName(spec.name)}`);
  const hashed = columns.flatMap(({ comparing }, index) => (comparing === 'nulls' ? [] : [index]));
  const hashes = hashed.map((index) => {
    const { spec } = columns[index]!;
    return `hashtextextended(${valueText(own[index]!, spec, types.get(spec.name)!)} collate "C", 0) as h${index}`;
  });
  const file = fileColumn === undefined ? 'null::text' : `t.${quoteName(fileColumn)}::text`;
  const sumOf = ({ comparing, spec }: ComparedColumn, index: number): string => {
    if (comparing !== 'numbers') return 'null';
    const finite = `filter (where ${own[index]} not in ('NaN', 'Infinity', '-Infinity'))`;
    return `sum(${own[index]}) ${spec.type === 'numeric' ? finite : ''}`;
  };
  const list = (texts: readonly string[]): string => `array[${texts.join(', ')}]::text[]`;
  // Citus passes on a subquery only with a `from` clause.
  const hash = `lateral (select ${hashes.join(', ')} from (values (1)) v offset 0) h`;
  return `select ${file} as file, count(*)::float8 as rows,
      ${list(own.map((column) => `count(*) - count(${column})`))} as nulls,
      ${list(columns.map(({ comparing }, index) => (comparing === 'nulls' ? 'null' : `sum(h.h${index})`)))} as hashes,
      ${list(columns.map(sumOf))} as sums,
      coalesce(sum(${hashed.map((index) => turned(`h.h${index}`, index)).join(' # ') || '0::bigint'}), 0)::text as "rowHash"
    from ${name} t${hashed.length === 0 ? '' : `, ${hash}`}
    ${fileColumn === undefined ? '' : 'group by 1'}`;
};

const productionSums = async (
  client: Client,
  name: string,
  columns: readonly ComparedColumn[],
  fileColumn: string | undefined,
  types: ReadonlyMap<string, string>,
): Promise<ReadonlyMap<string | null, RowSums>> => {
  const { rows } = await client.query(sumsSql(name, columns, fileColumn, types));
  return new Map(
    rows.map(({ file, rows: count, nulls, hashes, sums, rowHash }) => [
      file,
      {
        rows: count,
        rowHash: BigInt(rowHash),
        columns: columns.map(({ comparing }, index) => ({
          nulls: Number(nulls[index]),
          hash: comparing === 'nulls' ? null : BigInt(hashes[index] ?? 0),
          sum: comparing === 'numbers' ? decimalOf(sums[index]) : null,
        })),
      },
    ]),
  );
};

interface Verifying {
  readonly client: Client;
  readonly spec: PipelineSpec;
  readonly settings: RunSettings;
  /** Results of stagedHashes, by table. */
  readonly staged: Readonly<Record<string, string>>;
  readonly run: number | undefined;
}

const triesMax = 3;

const readProduction = async (
  client: Client,
  of: FilesOf,
  table: SourceTableSpec,
  files: readonly KnownFile[],
): Promise<Production> => {
  const name = quoteName(of.schema, of.table);
  const there = await columnsThere(client, name);
  const others = await filesOfOthers(client, of);
  if (there === undefined || files.length === 0) return { there, others, sums: undefined };
  // If values cannot be compared, only the rows are counted.
  const why = whyNotRows(table, files, await countRows(client, name));
  const { columns, fileColumn } = columnsInProduction(table, there);
  const isAsked = why === undefined;
  const sums = await productionSums(
    client,
    name,
    isAsked ? columns : [],
    isAsked ? fileColumn : undefined,
    there,
  );
  return { there, others, sums };
};

/** Reads files and rows of a table. Starts again if a run publishes it in between. */
const readTable = async (
  verifying: Verifying,
  table: SourceTableSpec,
): Promise<{ readonly files: readonly KnownFile[]; readonly production: Production }> => {
  const { client, spec, settings, staged, run } = verifying;
  const of = { pipeline: spec.name, schema: spec.schema, table: table.name };
  for (let tries = 0; tries < triesMax; tries += 1) {
    const before = await standOf(client, of);
    const files = await filesInProduction(client, spec, table, settings, staged[table.name]!, run);
    // Read committed: each statement has a new snapshot. An old snapshot sees a swapped table
    // empty.
    const production = await withTransaction(client, async () => {
      await readOnly(client);
      return readProduction(client, of, table, files);
    });
    if ((await standOf(client, of)) === before) return { files, production };
  }
  throw new EtlError('ETL_VERIFY_MOVED', { table: table.name, times: triesMax });
};

const derived = (table: string): VerifiedTable => ({
  table,
  outcome: 'not compared',
  by: null,
  rows: null,
  columns: 0,
  files: [],
  differences: [],
  notCompared: [{ file: null, column: null, reason: 'SQL makes it from other tables' }],
  losses: [],
});

/** Throws if the server computes other hashes than we do: every column would then differ. */
const checkHash = async (client: Client): Promise<void> => {
  const { hi, lo } = textHash(hashProbe);
  if (BigInt(hi) * 2n ** 32n + BigInt(lo) !== (await serverHash(client, hashProbe)))
    throw new EtlError('ETL_VERIFY_HASH');
};

const outcomeOf = (tables: readonly VerifiedTable[]): VerifyReport['outcome'] =>
  (['different', 'same'] as const).find((one) => tables.some(({ outcome }) => outcome === one)) ??
  'not compared';

/**
 * Verifies production over a connection; without a client, there is no server yet. Errors: those of
 * the definition, its files and its functions, ETL_VERIFY_NOTHING, ETL_VERIFY_MOVED,
 * ETL_VERIFY_HASH, ETL_SCHEMA_OLDER.
 */
export const verifyOn = async (
  pipeline: Pipeline,
  { tables: asked, run, ...options }: VerifyOptions,
  client: Client | undefined,
): Promise<VerifyReport> => {
  const start = performance.now();
  const settings = resolveOptions(options);
  const { spec, hashes } = await readDefinition(pipeline, settings);
  const names = spec.tables.map(({ name }) => name);
  refuseUnknownTables(names, asked, 'tables');
  const known = await knowing(client, spec);
  const nothing = (): EtlError =>
    new EtlError('ETL_VERIFY_NOTHING', {
      pipeline: spec.name,
      of: run === undefined ? '' : ` of run ${run}`,
    });
  if (known === undefined) throw nothing();
  await checkHash(known);
  const verifying = { client: known, spec, settings, staged: hashes.staged, run };
  const tables: VerifiedTable[] = [];
  let files = 0;
  for (const table of spec.tables.filter(({ name }) => (asked ?? names).includes(name))) {
    if (table.kind === 'derived') {
      tables.push(derived(table.name));
      continue;
    }
    const read = await readTable(verifying, table);
    const wanted = read.files.filter(({ runId }) => run === undefined || runId === run);
    if (run !== undefined && wanted.length === 0) continue;
    files += wanted.length;
    const signal = stopSignal(settings);
    tables.push(await verifyTable(known, table, read.files, wanted, read.production, signal));
  }
  if (files === 0) throw nothing();
  return { pipeline: spec.name, outcome: outcomeOf(tables), tables, seconds: secondsSince(start) };
};
