// `etl init FILE…`: infers a pipeline from files, and writes it.

import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { codeOf, EtlError } from '../../core/errors/errors.ts';
import type { WrittenTable } from '../../tools/init/write-pipeline.ts';
import type { InitDraft } from '../../tools/init/write-init.ts';
import { inQuotes, plural } from '../../core/wording.ts';
import { lossText } from '../../tools/loss.ts';
import { npx } from '../called.ts';
import { command } from '../command.ts';
import { databaseUrl, debug, fileArguments, standardOutput, textFlag, toggle } from '../inputs.ts';
import { widthOf, type Io, type Output } from '../io.ts';
import { askEncoding, fieldName, settle } from '../init-questions.ts';
import { canAsk, withPrompt, type Prompt } from '../prompt.ts';
import {
  columnFlags,
  columnRules,
  givenReading,
  readingFlags,
  type ColumnFlags,
  type ReadingFlags,
} from '../init-flags.ts';
import { formatBytes } from '../../core/amounts.ts';
import { openServer } from '../server.ts';
import { draftLines } from '../text/load-text.ts';
import { clip, visibleText, wrap, wrapUnder } from '../layout.ts';
import { paintFor } from '../paint.ts';

const typesText = (types: readonly string[]): string => {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  const sorted = [...counts].toSorted((one, other) => other[1] - one[1]);
  return sorted.map(([type, count]) => `${count} ${type}`).join(', ');
};

/** `isAsking`: remarks that are asked about are left to the question. */
const summaryLines = (
  { tables, files, bytes }: InitDraft,
  stream: Output,
  io: Io,
  isAsking: boolean,
): readonly string[] => {
  const paint = paintFor(stream, io.env);
  const width = widthOf(stream);
  const remark = (text: string): readonly string[] => wrapUnder(`  - ${visibleText(text)}`, width, 4);
  return [
    `Read ${plural(files, 'file')}, ${formatBytes(bytes)}`,
    ...tables.flatMap(({ name, records, decisions, header, remarks }) => [
      ...wrapUnder(
        `${paint('bold', visibleText(name))}  ${plural(records, 'record')}, ${plural(decisions.length, 'field')}: ${typesText(decisions.map(({ type }) => type))}`,
        width,
        2,
      ),
      ...remarks.flatMap(remark),
      ...decisions.flatMap(({ doubts, alternatives }, index) =>
        doubts
          .slice(isAsking && alternatives.length > 0 ? 1 : 0)
          .flatMap((doubt) => remark(`${fieldName(header, index)}: ${doubt}`)),
      ),
    ]),
    ...lossLines(lossesOf(tables), stream, io),
  ];
};

/** Returns the texts of all losses. Each is a line of the report that begins with `!`. */
const lossesOf = (tables: readonly WrittenTable[]): readonly string[] =>
  tables.flatMap(({ name, header, columns, losses, decisions }) => [
    ...losses.map((loss) => `${name}: ${lossText(loss)}`),
    ...decisions.flatMap((decision, index) =>
      decision.losses.map(
        (loss) => `${name}, ${fieldName(header, index)}: ${lossText(loss, columns[index])}`,
      ),
    ),
  ]);

const lossLines = (losses: readonly string[], stream: Output, io: Io): readonly string[] => {
  const mark = paintFor(stream, io.env)('yellow', '!');
  return losses.flatMap((loss) => wrapUnder(`${mark} ${visibleText(loss)}`, widthOf(stream), 2));
};

const refuseLosses = (tables: readonly WrittenTable[]): void => {
  const { length } = lossesOf(tables);
  if (length > 0) throw new EtlError('ETL_LOSS', { losses: plural(length, 'place') });
};

/** Returns why a pipeline is not written to this path; undefined: it is, if nobody is faster. */
const refusalOf = (path: string, force: boolean, { workingDirectory }: Io): EtlError | undefined => {
  const file = resolve(workingDirectory, path);
  if (!/[^/\\]\.[cm]?[jt]s$/.test(path))
    return new EtlError('ETL_USAGE', {
      problem: `a pipeline is written to a file whose name ends in .ts, not to ${inQuotes(path)}`,
      hint: `Nothing was written. Name it ${join(path, 'pipeline.ts')}, for example.`,
    });
  return force || !existsSync(file) ? undefined : new EtlError('ETL_FILE_EXISTS', { file });
};

/** Files may take long to read, so a path that the user gave is checked before. */
const refusePath = (path: string | undefined, force: boolean, io: Io): void => {
  const refusal = path === undefined || path === standardOutput ? undefined : refusalOf(path, force, io);
  if (refusal !== undefined) throw refusal;
};

export const writePipeline = async (file: string, text: string, force: boolean): Promise<void> => {
  await mkdir(dirname(file), { recursive: true });
  try {
    await writeFile(file, text, { flag: force ? 'w' : 'wx' });
  } catch (cause) {
    if (codeOf(cause) !== 'EEXIST') throw cause;
    throw new EtlError('ETL_FILE_EXISTS', { file }, { cause });
  }
};

const writeLines = (lines: readonly string[], stream: Output): void =>
  void stream.write(lines.map((line) => `${line}\n`).join(''));

interface Asked extends ColumnFlags, ReadingFlags {
  readonly locations: readonly string[];
  readonly force: boolean;
  readonly strict: boolean;
  readonly allowPrivate: boolean;
}

const secondMs = 1000;
const quietSeconds = 2;

/**
 * Says that files are being read if that takes more than two seconds: on a terminal for how long,
 * elsewhere on one line. Returns a function that ends it.
 */
const sayReading = ({ stderr }: Io): (() => void) => {
  let seconds = 0;
  const timer = setInterval(() => {
    seconds += 1;
    if (stderr.isTTY === true && seconds >= quietSeconds)
      stderr.write(`\r${clip(`Reading the files: ${seconds} s`, widthOf(stderr) - 1)}`);
    else if (seconds === quietSeconds) stderr.write('Reading the files…\n');
  }, secondMs);
  return () => {
    clearInterval(timer);
    if (stderr.isTTY === true && seconds >= quietSeconds) stderr.write('\r\x1b[K');
    seconds = 0;
  };
};

const nextText = (file: string, look: 'preview' | 'plan'): string =>
  `Wrote ${file}. Look at it, then: ${npx(`${look} ${file}`)}, ${npx(`run ${file}`)}`;

/** `prompt`: undefined if nobody can be asked. */
const writeInit = async (
  io: Io,
  out: string | undefined,
  { locations, force, strict, allowPrivate, ...flags }: Asked,
  prompt: Prompt | undefined,
): Promise<void> => {
  const { initText, readForInit } = await import('../../tools/init/write-init.ts');
  const { pipelineNameOf } = await import('../../tools/init/table-names.ts');
  refusePath(out, force, io);
  const rules = await columnRules(flags);
  const endReading = sayReading(io);
  const draft = await readForInit({
    locations,
    workingDirectory: io.workingDirectory,
    allowPrivate,
    given: givenReading(flags),
    rules,
    askEncoding: prompt && askEncoding(prompt, endReading),
  }).finally(endReading);
  const output = out === standardOutput ? io.stderr : io.stdout;
  writeLines(summaryLines(draft, output, io, prompt !== undefined), output);
  const settled = prompt === undefined ? draft : await settle(draft, prompt);
  const said = new Set(lossesOf(draft.tables));
  writeLines(
    lossLines(
      lossesOf(settled.tables).filter((loss) => !said.has(loss)),
      output,
      io,
    ),
    output,
  );
  if (strict) refuseLosses(settled.tables);
  const suggested = join('pipelines', `${draft.name}.ts`);
  if (out === standardOutput) {
    io.stdout.write(await initText(draft, draft.name, suggested));
    return;
  }
  const problemOf = (answer: string): string | undefined => {
    const { message, hint } = refusalOf(answer, force, io) ?? {};
    return message && `${message}. ${hint}`;
  };
  const path = out ?? (await prompt?.text('Where to write the pipeline?', suggested, problemOf)) ?? suggested;
  const name = pipelineNameOf(path) ?? draft.name;
  const file = resolve(io.workingDirectory, path);
  await writePipeline(file, await initText(settled, name, path), force);
  const shown = relative(io.workingDirectory, file);
  writeLines(wrap(nextText(shown, 'preview'), widthOf(io.stdout)), io.stdout);
};

/** Writes the pipeline that fills an existing table, whose columns are what the table says. */
const writeForTable = async (
  given: Asked & {
    readonly io: Io;
    readonly out: string | undefined;
    readonly databaseUrl: string | undefined;
  },
  into: string,
): Promise<void> => {
  const { io, out, locations, allowPrivate, key, force } = given;
  refusePath(out, force, io);
  const { prepareLoad } = await import('../../tools/load/prepare-load.ts');
  const { withClient } = await import('../../db/client.ts');
  const columns = await columnRules(given);
  const { workingDirectory } = io;
  const request = {
    into,
    key,
    columns,
    allowPrivate,
    workingDirectory,
    mode: 'append',
    files: locations,
    map: new Map<string, string>(),
    skip: [],
    only: undefined,
    zone: undefined,
    rejectLimit: undefined,
    reading: givenReading(given),
  } as const;
  const draft = await withClient(await openServer(given), (client) => prepareLoad(client, request));
  if (draft.pairs === undefined)
    throw new EtlError('ETL_USAGE', {
      problem: `--into: there is no table ${draft.target.schema}.${draft.target.table}`,
      hint: 'Leave --into out for a pipeline that makes the table, or load into it with `etl load`.',
    });
  const path = out ?? join('pipelines', `${draft.target.table}.ts`);
  if (path === standardOutput) return void io.stdout.write(draft.text(path));
  writeLines(draftLines(draft, io), io.stdout);
  const file = resolve(workingDirectory, path);
  const shown = relative(workingDirectory, file);
  await writePipeline(file, draft.text(shown), force);
  writeLines([nextText(shown, 'plan')], io.stdout);
};

export const initCommand = command({
  name: 'init',
  summary: 'infer a pipeline from files, and write it',
  description:
    'Reads files, infers their dialects, columns, types and keys, and writes a pipeline that loads them.',
  takes: {
    locations: fileArguments(
      'paths, globs, https:// and s3:// addresses, members of archives; compressed or not',
    ),
    out: textFlag(
      '--out <file>',
      'where to write the pipeline, - for standard output; default: pipelines/<name>.ts',
    ),
    force: toggle('--force', 'overwrite an existing file'),
    into: textFlag(
      '--into <table>',
      'existing table that the pipeline fills; its columns are declared as they are',
    ),
    databaseUrl,
    strict: toggle('--strict', 'write nothing if the pipeline would lose a character; exit code 5'),
    yes: toggle('--yes', 'ask no questions; none are asked without a terminal'),
    ...readingFlags,
    ...columnFlags,
    allowPrivate: toggle('--allow-private', 'addresses may lead to private and loopback hosts'),
    debug,
  },
  help: `
Reads every record, so that the pipeline loads the files without a reject. Files with the same header become one table.
On a terminal, asks for the types of ambiguous columns. Otherwise, and with --yes or --out -, they are text, and comments in
the pipeline say so.

Examples:
  $ etl init 'in/orders-*.csv'
  $ etl init in/orders.csv.gz in/customers.csv --out pipelines/shop.ts
  $ etl init https://example.com/stations.csv --yes
  $ etl init in/orders.csv --into app.orders          for a table that exists
  $ etl init in/orders.csv --out - | less`,
  act: ({ io, out, yes, into, databaseUrl: url, ...asked }) => {
    if (into !== undefined) return writeForTable({ ...asked, io, out, databaseUrl: url }, into);
    const isAsking = out !== standardOutput && !yes && canAsk(io);
    return isAsking
      ? withPrompt(io, (prompt) => writeInit(io, out, asked, prompt))
      : writeInit(io, out, asked, undefined);
  },
});
