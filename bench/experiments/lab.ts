// Where experiments are done: a server, a directory, and a list of what was checked.

import type pg from 'pg';
import type { OwnServer } from './own-server.ts';
import { withPg } from './connect.ts';

/** Something that must hold on every server at every size. */
export interface Check {
  readonly what: string;
  readonly outcome: 'holds' | 'fails' | 'skipped';
  /** What was found, or why it was skipped. */
  readonly found: string;
}

/** A program for transactions or dumps that fits the server; undefined: there is none on this machine. */
export interface Tools {
  readonly pgbench?: string;
  readonly pgDump?: string;
}

export interface Lab {
  /** Of the database; another after a restart if another program took the port. */
  readonly url: string;
  /** Undefined: the server is somebody else's, and is neither killed nor restarted. */
  readonly own?: OwnServer;
  /** For files; empty at the beginning of every experiment. */
  readonly directory: string;
  /** How often each side has its turn; the median counts. */
  readonly rounds: number;
  /** How long each run of transactions takes. */
  readonly seconds: number;
  readonly tools: Tools;
  /** Path of etl.mjs. */
  readonly etl: string;
  /** Whether this is as large as what was published. */
  readonly isFull: boolean;
  readonly checks: Check[];
}

/** The schema of all tables that experiments make, apart from those of pgbench and of pipelines. */
export const schema = 'sluice_experiments';
/** Tables of pgbench have fixed names, so logged and unlogged ones have schemas of their own. */
export const schemas = { logged: `${schema}_logged`, unlogged: `${schema}_unlogged` } as const;

export type Kind = keyof typeof schemas;
export const tableKinds: Readonly<Record<Kind, string>> = { logged: 'table', unlogged: 'unlogged table' };

/** The schemas that the pipelines of experiment 1 publish to. */
const published = ['bench_verbatim', 'bench_observation'];

const all = [schema, ...Object.values(schemas), ...published];

/** Written to our schemas, so that nobody else's is dropped. */
const mark = 'made by npm run experiments';

/** Removes what experiments made; refuses when a schema with such a name is somebody else's. */
export const clear = async (url: string): Promise<void> =>
  withPg(url, async (client) => {
    const { rows } = await client.query(
      `select nspname as name from pg_namespace
        where nspname = any ($1) and obj_description(oid, 'pg_namespace') is distinct from $2`,
      [all, mark],
    );
    if (rows.length > 0)
      throw new Error(
        `the schema ${rows[0].name} was not made by these experiments: drop or rename it, or use another database`,
      );
    await client.query(`drop schema if exists ${all.join(', ')} cascade`);
  });

/** Empty schemas. */
export const reset = async (url: string): Promise<void> => {
  await clear(url);
  await withPg(url, async (client) => {
    for (const name of all)
      await client.query(`create schema ${name}; comment on schema ${name} is '${mark}'`);
  });
};

/** Notes whether something holds; a failure does not end the experiment, so that the report shows all. */
export const check = (lab: Lab, what: string, holds: boolean, found: string): void => {
  lab.checks.push({ what, outcome: holds ? 'holds' : 'fails', found });
};

/** Notes something that this server does not allow to check. */
export const skip = (lab: Lab, what: string, why: string): void => {
  lab.checks.push({ what, outcome: 'skipped', found: why });
};

/** Why nothing is killed there. */
export const foreign = 'the server is not our own: nothing on it is killed, restarted or copied';

/** Position in the write-ahead log, in bytes. */
export const logPosition = async (client: pg.Client): Promise<number> => {
  const { rows } = await client.query(`select pg_current_wal_insert_lsn() - '0/0'::pg_lsn as bytes`);
  return Number(rows[0].bytes);
};

/** What changes of the catalogue write, whatever the size of tables: pages of it as a whole, after a checkpoint. */
export const catalogueLogBytes = 1_000_000;

/** Whether the log of the unlogged side has none of the rows that are in the log of the other. */
export const hasNoRows = (unlogged: number, logged: number): boolean =>
  unlogged < logged / 3 && unlogged < logged / 100 + catalogueLogBytes;

/** Number of rows of a table. */
export const countRows = async (url: string, table: string): Promise<number> =>
  withPg(url, async (client) => (await client.query(`select count(*)::int as n from ${table}`)).rows[0].n);

/** Starts a measurement with nothing left to write; a role that may not ask for it goes without. */
export const checkpoint = async (client: pg.Client): Promise<void> => {
  await client.query('checkpoint').catch((error: { readonly code?: string }) => {
    if (error.code !== '42501') throw error;
  });
};
