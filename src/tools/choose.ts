// Chooses the versions that a rollback publishes: the versions of one run, for all its tables.

import type { KeptTable, TableOfRun, Version } from '../ledger/production/kept.ts';
import type { PipelineSpec, TableSpec } from '../core/declaration.ts';
import { EtlError } from '../core/errors/errors.ts';
import { fileColumn } from '../db/names.ts';
import { meaningOf } from '../publish/modes/meanings.ts';
import type { Work } from '../run/context.ts';

export interface Choice {
  readonly spec: PipelineSpec;
  readonly kept: readonly KeptTable[];
  readonly inProduction: readonly TableOfRun[];
  readonly tables: readonly string[];
}

export interface Return {
  readonly table: TableSpec;
  readonly version: KeptTable;
}

const refuse = (pipeline: string, problem: string, hint: string): never => {
  throw new EtlError('ETL_ROLLBACK', { pipeline, problem, hint });
};

/**
 * Tells how a user undoes a load of a table that keeps no versions.
 * Proved by test/modes/rollback.test.ts, "says what undoes it".
 */
const undoOf = ({ name, publish, ...table }: TableSpec): string => {
  const again = `run with --full-refresh --allow-shrink ${name}`;
  if (table.kind === 'derived') return again;
  if (meaningOf(publish).rowsKnownBy === 'key')
    return `correct the file and \`etl reload\` it, or remove the file and ${again}`;
  return table.columns.some((column) => column.name === fileColumn)
    ? '`etl unload` takes the rows of a file out'
    : `remove the file and ${again}`;
};

/** Strategies that replace all rows of a table, whose previous version can be kept. */
const replacing = new Set(['swap', 'in place']);

/**
 * Returns the rollback that was the last change of the tables, and the newest kept version before
 * it. undefined: the last change was not a rollback.
 */
const backAlready = ({ kept, inProduction, tables }: Choice) => {
  const now = inProduction.filter(({ table }) => tables.includes(table));
  const back = now.findLast((one) => one.back !== null)?.back;
  const older = kept.find(({ table, run }) => now.some((one) => one.table === table && run < one.run));
  return back ? { ...back, older: older?.run } : undefined;
};

/**
 * Returns the run of the last replaced version that is older than production. A repeated rollback
 * gets the same run: users who repeat an unclear rollback want to undo one load, not two.
 * Errors: ETL_ROLLBACK.
 */
export const runBefore = (choice: Choice): number => {
  const { spec, kept, inProduction, tables } = choice;
  const now = new Map(inProduction.map(({ table, run, back }) => [table, back === null ? run : 0]));
  const before = kept.find(({ table, run }) => tables.includes(table) && run < (now.get(table) ?? 0));
  if (before !== undefined) return before.run;
  const back = backAlready(choice);
  if (back !== undefined) return back.to;
  const newer = kept.find(({ table }) => tables.includes(table));
  if (newer !== undefined)
    return refuse(
      spec.name,
      'no version is kept that is older than production',
      `Newer versions are kept: \`--to ${newer.run}\` goes forward to one; \`etl rollback\` with \`--list\` shows all.`,
    );
  const changed = spec.tables.filter(
    ({ name, publish }) => tables.includes(name) && meaningOf(publish).takesParts,
  );
  const hint =
    changed.length > 0
      ? `Only tables that are replaced keep versions, with \`keep: 1\`. To undo a load of ${changed.map((table) => `${table.name}: ${undoOf(table)}`).join('; ')}.`
      : 'Tables with `keep: 1` keep the version before each run; `etl rollback` with `--list` shows what is kept.';
  return refuse(spec.name, 'no earlier version is kept', hint);
};

export const sayBack = ({ report }: Work, choice: Choice): void => {
  const back = backAlready(choice);
  if (back === undefined) return;
  const further = back.older === undefined ? '' : `; --to ${back.older} goes further back`;
  const message = `nothing to undo: run ${back.by} already went back to run ${back.to}, and no run has loaded since${further}`;
  report.emit({ type: 'notice', message });
};

const whyNot = ({ spec, inProduction }: Choice, { table, run }: Version): string => {
  const now = inProduction.find((one) => one.table === table);
  return replacing.has(now?.strategy ?? 'swap')
    ? `${table} (its version of run ${run} is not kept)`
    : `${table} (its rows are changed in place; ${undoOf(spec.tables.find(({ name }) => name === table)!)})`;
};

/**
 * Returns kept versions of run `to`, for tables that have another version in production.
 * Errors: ETL_ROLLBACK.
 */
export const chooseVersions = (choice: Choice, to: number, ofRun: readonly Version[]): readonly Return[] => {
  const { spec, kept, inProduction, tables } = choice;
  const wanted = ofRun.filter(({ table }) => tables.includes(table));
  if (wanted.length === 0)
    refuse(
      spec.name,
      `run ${to} has published none of ${tables.join(', ')}`,
      '`etl rollback` with `--list` shows what is kept.',
    );
  const isThere = ({ table, run }: Version): boolean =>
    inProduction.some((one) => one.table === table && one.run === run);
  const found = wanted
    .filter((one) => !isThere(one))
    .map((one) => ({
      one,
      table: spec.tables.find(({ name }) => name === one.table)!,
      version: kept.find(({ table, run }) => table === one.table && run === one.run),
    }));
  const missing = found.filter(({ version }) => version === undefined).map(({ one }) => whyNot(choice, one));
  if (missing.length > 0)
    refuse(
      spec.name,
      `not all tables can go back to run ${to}: ${missing.join(', ')}`,
      'The tables were published together, so no table was changed. `--table` rolls back only the tables that it names.',
    );
  return found.map(({ table, version }) => ({ table, version: version! }));
};
