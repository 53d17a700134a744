// Files by chance, in every dialect, encoding and form, from everywhere, whole and damaged, through real runs: production is what the
// model that wrote the files says, and what is damaged comes to the same however it is loaded. Nothing is lost, nothing invented.
//
//   FUZZ_SECONDS=600 FUZZ_SEED=1 npm run test:fuzz

import fc from 'fast-check';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { RunOptions } from '../../src/index.ts';
import { plainForm, type FileForm } from '../helpers/file-forms.ts';
import { useFiles } from '../helpers/files.ts';
import { columnsIn, prepare, rowsSql, type Prepared } from '../helpers/fuzz-files.ts';
import { loadHere, loadPiped, type LoadError, type PlacedTable } from '../helpers/fuzz-load.ts';
import { expectParsed } from '../helpers/fuzz-parse.ts';
import { scene as scenes, type Scene, type TableScene } from '../helpers/fuzz-scene.ts';
import { useHttpFiles } from '../helpers/http-files.ts';
import { startS3, type S3Server } from '../helpers/s3.ts';
import { readCount } from '../helpers/seeded.ts';
import { useDatabase } from '../helpers/server.ts';

const seconds = readCount('FUZZ_SECONDS', 600);
const firstSeed = readCount('FUZZ_SEED', 1 + (Date.now() % 1_000_000));
/** How long a failing load is made smaller. */
const shrinkSeconds = 120;
/** Far more than any load takes. */
const hangMs = 240_000;

const files = useFiles();
const server = useHttpFiles();
const database = useDatabase();
let bucket: S3Server;
beforeAll(async () => {
  bucket = await startS3();
  for (const [name, value] of Object.entries(bucket.env)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await bucket.stop();
});

const ask = async <Row extends Record<string, unknown>>(sql: string): Promise<readonly Row[]> =>
  (await database.query<Row>(sql)).rows;

type Place = TableScene['place'];
const local = { kind: 'directory' } as const;

/** Puts a file at its place, and returns its location. */
const put = (place: Place, name: string, bytes: Buffer, { end, member = '' }: FileForm): string => {
  const path = `${name}.csv${end}`;
  if (place.kind === 'directory' || place.kind === 'standard input') return files.write(path, bytes) + member;
  if (place.kind === 'bucket') {
    bucket.put('fuzz', path, bytes);
    return `s3://fuzz/${path}${member}`;
  }
  const { hasTag, hasDate, hasLength } = place;
  // Members of archives are found by ranges.
  const ranges = place.hasRanges || member !== '';
  return (
    server.put(`/${path}`, {
      bytes,
      ...(hasTag ? {} : { etag: null }),
      modified: hasDate ? 'Tue, 04 Jan 2011 00:00:00 GMT' : null,
      ranges,
      length: hasLength,
    }) + member
  );
};

/** What goes wrong at these places from now on. */
const disturb = async (places: readonly Place[]): Promise<void> => {
  server.cuts = places.flatMap((place) => (place.kind === 'web server' ? place.cuts : []));
  const faults = places.flatMap((place) => (place.kind === 'bucket' ? place.faults : []));
  await bucket.order(
    ...faults.map((fault) => ({
      on: '/fuzz/',
      ...(fault === 'busy' ? { status: 503, code: 'SlowDown' } : { cutAfter: fault }),
    })),
  );
};

/** A table, and what is piped into its run. */
interface Declared extends PlacedTable {
  readonly piped?: Buffer;
}

/** Puts the files of a table somewhere; the first one may be piped in, if its first bytes tell what it is. */
const declare = (
  prepared: Prepared,
  place: Place,
  prefix: string,
  form: FileForm,
  bytes: readonly Buffer[],
): Declared => {
  const { scene, name } = prepared;
  const isPiped = place.kind === 'standard input' && form.member === undefined && form.end !== '.br';
  const locations = bytes.map((one, file) =>
    isPiped && file === 0 ? '-' : put(place, `${prefix}-${name}-${file}`, one, form),
  );
  const sql = scene.staging === 'text' ? files.write(`${prefix}-${name}.sql`, rowsSql(prepared)) : '';
  const more = place.kind === 'web server' ? { allowPrivate: true } : {};
  return { table: name, scene, locations, sql, more, ...(isPiped ? { piped: bytes[0]! } : {}) };
};

type Options = Pick<RunOptions, 'workers' | 'chunkBytes' | 'signal' | 'drain' | 'onEvent'>;

/** What production and etl.reject have of a table, of the newest run: files that were broken may have been published before it. */
const lookAt = async (pipeline: string, table: string, columns: number) => {
  const texts = Array.from({ length: columns }, (_, index) => `c${index + 1}::text`);
  const production = await ask<Record<string, string | null>>(
    `select id::text as key, ${texts.join(', ')} from ${pipeline}.${table} t order by id, t::text`,
  );
  const rejects = await ask(
    `select ordinal, r.line::int, r.record::int, r.byte::int, code, column_name, reason, raw, last_line::int
      from etl.reject r join etl.source_file f on f.id = file_id
      where r.run_id = (select max(id) from etl.run where pipeline = '${pipeline}' and state = 'published')
        and r.table_name = '${table}' order by ordinal, byte`,
  );
  return { production: production.map((row) => Object.values(row)), rejects };
};

interface Outcome {
  readonly error?: LoadError;
  /** By table. */
  readonly tables: Readonly<
    Record<string, Awaited<ReturnType<typeof lookAt>> & { readonly records: number }>
  >;
}

/** What a run comes to: what is in production and in etl.reject, or its error. */
const load = async (name: string, declared: readonly Declared[], options: Options): Promise<Outcome> => {
  const piped = declared.find((one) => one.piped !== undefined)?.piped;
  const said =
    piped === undefined
      ? await loadHere(name, declared, { databaseUrl: database.url, ...options })
      : await loadPiped(
          files.write(
            `${name}.json`,
            JSON.stringify({ name, run: options, tables: declared.map((one) => ({ ...one, piped: null })) }),
          ),
          piped,
          database.url,
        );
  if ('error' in said) return { error: said.error, tables: {} };
  const outcome: Record<string, Outcome['tables'][string]> = {};
  for (const { table, records, copied, rejected, filtered, rows } of said.tables) {
    const { scene } = declared.find((one) => one.table === table)!;
    const { production, rejects } = await lookAt(name, table, columnsIn(scene));
    const counted = [copied + rejected + filtered, copied, copied, rejected];
    const there = [records, rows, production.length, rejects.length];
    expect(there, `${table}: what is there was counted`).toEqual(counted);
    outcome[table] = { records, production, rejects };
  }
  return { tables: outcome };
};

/** Loads, and is stopped at an event by the way; then it loads again. */
const loadStopping = async (
  name: string,
  declared: readonly Declared[],
  options: Options,
  stopAt: Scene['stopAt'],
): Promise<Outcome> => {
  if (stopAt === null || declared.some(({ piped }) => piped !== undefined))
    return load(name, declared, options);
  const stop = new AbortController();
  let events = 0;
  const onEvent = (): void => {
    events += 1;
    if (events > stopAt.event) stop.abort(new Error('enough'));
  };
  const stopped = await load(name, declared, { ...options, [stopAt.how]: stop.signal, onEvent });
  const isOther = stopped.error !== undefined && stopped.error.code !== 'ETL_INTERRUPTED';
  return isOther ? stopped : load(name, declared, options);
};

const thrown = (error: LoadError): Error =>
  error instanceof Error ? error : new Error(`${error.code}: ${error.message}`);

/** The errors that bytes which nobody meant may lead to; SQL names fields that may be gone, and casts their texts. */
const expectOfBytes = ({ error }: Outcome): void => {
  if (error !== undefined && !/^ETL_(?:SOURCE_|HEADER_|FILE_|TRANSFORM$)/.test(error.code))
    throw thrown(error);
};

const lines = (records: readonly unknown[]): readonly string[] => records.map((one) => JSON.stringify(one));

/** Nothing of these is missing, nothing more is there; the message has the first that differ. */
const expectSame = (what: string, seen: readonly unknown[], expected: readonly unknown[]): void => {
  const [one, other] = [lines(seen), lines(expected)];
  const at = one.findIndex((line, index) => line !== other[index]);
  const place = at < 0 ? one.length : at;
  const some = (all: readonly string[]) => all.slice(place, place + 3);
  expect({ length: one.length, [`from ${place}`]: some(one) }, `${what} as expected`).toEqual({
    length: other.length,
    [`from ${place}`]: some(other),
  });
};

/** Files that were damaged come to the same as plain local ones, which one worker loads at once. */
const expectAsPlain = async (
  name: string,
  damagedTables: readonly Prepared[],
  outcome: Outcome,
): Promise<void> => {
  if (damagedTables.length === 0) return;
  const declared = damagedTables.map((one) => declare(one, local, `${name}-plain`, plainForm, one.contents));
  const plain = await load(`${name}_plain`, declared, { workers: 1 });
  const codes = [outcome, plain].map(({ error }) => error?.code);
  // Which of several tables fails first depends on where its files are.
  const compared = damagedTables.length === 1 ? codes : codes.map((code) => code === undefined);
  const said = [outcome, plain].map(({ error }) => error?.message);
  expect(compared[0], `the error of the plain files, ${said.join(', ')}`).toBe(compared[1]);
  if (outcome.error !== undefined) return;
  for (const one of damagedTables) {
    const [seen, expected] = [outcome.tables[one.name]!, plain.tables[one.name]!];
    expectSame(`rows of ${one.name} as in a plain file`, seen.production, expected.production);
    expectSame(`rejects of ${one.name} as in a plain file`, seen.rejects, expected.rejects);
    expectParsed(one, seen.records, seen.production);
  }
};

let loads = 0;

/** Loads what a scene says, and checks what comes of it. */
const play = async ({ tables, workers, chunkBytes, stopAt }: Scene): Promise<void> => {
  // Standard input is there once.
  const first = tables.findIndex(({ place }) => place.kind === 'standard input');
  const prepared = tables.map((table, index) =>
    prepare(
      index > first && table.place.kind === 'standard input' ? { ...table, place: local } : table,
      index,
    ),
  );
  // An empty file is an error.
  fc.pre(prepared.every(({ contents }) => contents.every(({ length }) => length > 0)));
  const name = `f${(loads += 1)}`;
  const declareAll = (bytesOf: (one: Prepared) => readonly Buffer[]) =>
    prepared.map((one) => declare(one, one.scene.place, name, one.form, bytesOf(one)));
  if (prepared.some(({ broken }) => broken !== undefined)) {
    expectOfBytes(
      await load(
        name,
        declareAll(({ broken, packed }) => broken ?? packed),
        { workers },
      ),
    );
    await database.query(`drop schema if exists ${name} cascade`);
  }
  const declared = declareAll(({ packed }) => packed);
  await disturb(tables.map(({ place }) => place));
  // A chunk costs some milliseconds, however small it is.
  const bytes = prepared.flatMap(({ contents }) => contents).reduce((sum, { length }) => sum + length, 0);
  const options = { workers, chunkBytes: Math.max(chunkBytes, Math.ceil(bytes / 30)) };
  const outcome = await loadStopping(name, declared, options, stopAt);
  const damagedTables = prepared.filter(({ scene }) => scene.damage?.of === 'content');
  if (damagedTables.length === 0 && outcome.error !== undefined) throw thrown(outcome.error);
  expectOfBytes(outcome);
  await expectAsPlain(name, damagedTables, outcome);
  if (outcome.error === undefined)
    for (const one of prepared.filter(({ scene }) => scene.damage?.of !== 'content')) {
      const { records, production, rejects } = outcome.tables[one.name]!;
      const seen = rejects.map(({ ordinal, line, record, code }) => ({ ordinal, line, record, code }));
      expectSame(`rejects of ${one.name}`, seen, one.expected.rejects);
      expectSame(`rows of ${one.name}`, production, one.expected.rows);
      expect(records).toBe(one.expected.records);
    }
  await database.query(`drop schema if exists ${name} cascade; drop schema if exists ${name}_plain cascade`);
};

it(`files by chance for ${seconds} seconds, from seed ${firstSeed} on`, async () => {
  const until = Date.now() + seconds * 1000;
  let shrinkUntil = Infinity;
  const property = fc.asyncProperty(scenes, async (scene) => {
    // The smallest load that has failed so far is reported.
    if (Date.now() > shrinkUntil) return;
    try {
      await play(scene);
    } catch (error) {
      if (!fc.PreconditionFailure.isFailure(error))
        shrinkUntil = Math.min(shrinkUntil, Date.now() + shrinkSeconds * 1000);
      throw error;
    }
  });
  let seed = firstSeed;
  for (; Date.now() < until; seed += 1) await fc.assert(property, { seed, numRuns: 5, timeout: hangMs });
  console.log(`FUZZ_SEED=${firstSeed}: seeds to ${seed - 1}, ${loads} loads`);
  expect(loads).toBeGreaterThan(0);
  // A run that failed keeps what it has loaded, to go on with.
  const left = await ask(
    `select relname::text as staging from pg_class
      where relnamespace = to_regnamespace('etl_staging') and relkind = 'r'
      and not exists (select from etl.run where state = 'failed' and starts_with(relname, pipeline || '__'))`,
  );
  expect(left).toEqual([]);
});
