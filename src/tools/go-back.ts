// Publishes kept versions of tables: the kept table itself, or a copy of its rows.

import { hostname } from 'node:os';
import { forgetKept, insertRollback } from '../ledger/production/kept.ts';
import { forgetAllFiles, insertPublishedFiles } from '../ledger/production/published-files.ts';
import { abandonRuns } from '../ledger/run/take-over.ts';
import { runQuery } from '../db/client.ts';
import { countRows } from '../db/rows.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { distribute, isStoredAs } from '../publish/table/distribution.ts';
import { dropServerColumns } from '../publish/table/server-columns.ts';
import { RowsRefused } from '../publish/table/refused-rows.ts';
import { builtName, keptSchema, type TableNames } from '../db/names.ts';
import { productionTables, type ProductionTable } from '../publish/table/production.ts';
import { chooseStrategy } from '../publish/modes/registry.ts';
import type { BuiltTable, DeclaredTable } from '../publish/table/tables.ts';
import { noneOutgoing } from '../run/files/sieve.ts';
import { renewBuildSchema } from '../run/build/empty-schema.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import { allRows } from '../publish/modes/replace/mode.ts';
import { eachStaged } from '../publish/modes/fill-all.ts';
import type { RunContext, Work } from '../run/context.ts';
import { secondsSince } from '../core/amounts.ts';
import { namesOf, sourceNames } from '../db/landing.ts';
import { declaredAs } from '../publish/modes/declared.ts';
import { rowsInProduction } from '../run/publish/guard.ts';
import { publishTables } from '../run/publish/publish.ts';
import type { Return } from './choose.ts';

const throwUnfit =
  (backs: readonly Return[]) =>
  (cause: unknown): never => {
    if (!(cause instanceof RowsRefused)) throw cause;
    const { table, what: constraint } = cause;
    const { run } = backs.find((back) => back.table.name === table)!.version;
    throw new EtlError(
      'ETL_CONSTRAINT',
      { table, constraint, records: `rows of the version of run ${run}` },
      { cause },
    );
  };

/** Declares mode replace: only this mode keeps versions, whatever the table declares now. */
const declaredBack = (spec: PipelineSpec, { table }: Return): DeclaredTable => ({
  ...declaredAs(spec, table, 'whole'),
  mode: meaningOf('replace'),
});

const copyBack = async (
  { client, spec, report }: Work,
  back: Return,
): Promise<{ readonly names: TableNames; readonly rows: number }> => {
  const { table, version } = back;
  const names = namesOf(spec, table);
  const [built, kept] = [builtName(names), version.location];
  await client.query(`create table ${built} (like ${kept})`);
  await distribute(client, names);
  const { rowCount } = await client.query(`insert into ${built} select * from ${kept}`);
  await dropServerColumns(client, names);
  const complete = await allRows.complete({
    client,
    names,
    primaryKey: table.primaryKey,
    indexes: table.indexes,
    constraints: table.constraints ?? [],
    making: (_, work) => work(),
    announce: (message) => report.emit({ type: 'notice', message }),
  });
  await complete().catch(throwUnfit([back]));
  return { names, rows: rowCount ?? 0 };
};

/**
 * Prepares a version for publishing. Its rows are copied if the version is itself a copy, or if the
 * strategy writes into the existing table.
 */
const makeReady = async (
  context: RunContext,
  back: Return,
  production: ProductionTable | undefined,
): Promise<BuiltTable> => {
  const { client, spec } = context;
  const { table, version } = back;
  const start = performance.now();
  const { keep = 0 } = table;
  const declared = declaredBack(spec, back);
  const isMoved =
    version.indexes !== null &&
    !chooseStrategy(declared, production).writes &&
    (await isStoredAs(client, declared, version.location));
  const { names, rows } = isMoved
    ? {
        names: { ...declared, buildSchema: keptSchema, built: version.name },
        rows: version.rows ?? (await countRows(client, version.location)),
      }
    : await copyBack(context, back);
  return {
    ...declared,
    ...names,
    ...eachStaged(rows, builtName(names)),
    outgoing: noneOutgoing,
    leaving: 0,
    indexes: table.indexes.map(({ name }) => name),
    seconds: secondsSince(start),
    // The replaced version is always kept, so that a rollback can be rolled back.
    keep: Math.max(1, keep),
    returns: { run: version.run, indexes: isMoved ? version.indexes : [] },
  };
};

const recordReturn = async (
  { client, spec }: Work,
  backs: readonly Return[],
  built: readonly BuiltTable[],
): Promise<void> => {
  const sources = sourceNames(spec);
  const loaded = backs.filter(({ table }) => sources.includes(table.name));
  await runQuery(
    client,
    forgetAllFiles(
      spec.schema,
      loaded.map(({ table }) => table.name),
    ),
  );
  for (const run of new Set(loaded.map(({ version }) => version.run))) {
    const tables = loaded.filter(({ version }) => version.run === run).map(({ table }) => table.name);
    await runQuery(client, insertPublishedFiles(run, spec.schema, tables));
  }
  await runQuery(client, forgetKept(backs.map(({ version }) => version.id)));
  const copied = backs.filter((_, index) => built[index]!.buildSchema !== keptSchema);
  if (copied.length > 0)
    await client.query(`drop table ${copied.map(({ version }) => version.location).join(', ')}`);
};

/** Publishes versions of run `to`. Returns the id of the rollback's own run. */
export const goBack = async (context: RunContext, to: number, backs: readonly Return[]): Promise<number> => {
  const { client, spec, epoch } = context;
  const { name: pipeline } = spec;
  await renewBuildSchema(context);
  const built: BuiltTable[] = [];
  const found = await productionTables(
    client,
    backs.map((back) => declaredBack(spec, back)),
  );
  for (const [index, back] of backs.entries()) built.push(await makeReady(context, back, found[index]));
  let runId = 0;
  await publishTables(context, built, {
    judge: (plans) => rowsInProduction(client, plans),
    begin: async () => {
      await runQuery(client, abandonRuns(pipeline, 'its pipeline was rolled back'));
      const tables = backs.map(({ table }) => table.name);
      const run = { pipeline, to, tables, epoch, host: hostname(), pid: process.pid };
      runId = (await runQuery(client, insertRollback(run))).rows[0].id;
      return { runId, copied: new Map(), totals: [] };
    },
    record: () => recordReturn(context, backs, built),
  }).catch(throwUnfit(backs));
  return runId;
};
