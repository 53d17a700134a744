// `etl load FILE… --into TABLE`: loads files into a table without a pipeline file.

import { dirname, relative, resolve } from 'node:path';
import { EtlError } from '../../core/errors/errors.ts';
import { loadModes, type LoadMode } from '../../tools/load/load-modes.ts';
import { command, type Given } from '../command.ts';
import { columnFlags, columnRules, givenReading, readingFlags } from '../init-flags.ts';
import { fileArguments, namesFlag, repeatable, textFlag, toggle } from '../inputs.ts';
import { parsePair, parseString } from '../parsers.ts';
import { openServer } from '../server.ts';
import { draftLines } from '../text/load-text.ts';
import { planLines } from '../text/plan-text.ts';
import { writePipeline } from './init.ts';
import { refuseContradiction, runFlags, runLoaded } from './run.ts';

/** A full refresh of a table that other files have filled would remove their rows. */
const { params: _params, fullRefresh: _fullRefresh, ...flagsOfRun } = runFlags;

const modeOf = (given: { append: boolean; merge: boolean; replace: boolean }): LoadMode => {
  const chosen = loadModes.filter((mode) => given[mode]);
  if (chosen.length > 1)
    throw new EtlError('ETL_USAGE', {
      problem: `${chosen.map((mode) => `--${mode}`).join(' and ')} contradict each other`,
      hint: 'Choose one.',
    });
  return chosen[0] ?? 'append';
};

/** A changed file is refused with options of pipelines; here flags decide. */
const withFlags = (error: unknown): unknown =>
  error instanceof EtlError && error.code === 'ETL_FILE_CHANGED'
    ? new EtlError(
        'ETL_FILE_CHANGED',
        {
          ...(error.details as { table: string; files: string }),
          hint: '--again adds the rows of the files as they are now; --merge updates the rows of the same keys',
        },
        { cause: error },
      )
    : error;

const takes = {
  files: fileArguments(
    'paths, globs, https:// and s3:// addresses, members of archives, - for standard input',
  ),
  into: textFlag('--into <table>', 'table or schema.table; quoted as in SQL if a name has a dot'),
  append: toggle('--append', 'add the rows; the default'),
  merge: toggle('--merge', 'insert new rows and update existing ones, by the primary key'),
  replace: toggle('--replace', 'replace all rows of the table'),
  map: repeatable('--map <field=column>', 'column of a field, where the names differ', parsePair),
  skip: repeatable('--skip <field>', 'field that is not loaded', parseString),
  only: namesFlag(
    '--only <columns>',
    'the only columns to load; without a header, those of the fields in order',
  ),
  zone: textFlag('--zone <zone>', 'time zone of times without one, for columns of type timestamptz'),
  rejectLimit: textFlag(
    '--reject-limit <n>',
    'records that may be rejected: a number, or a share such as 0.1%',
  ),
  again: toggle(
    '--again',
    'load the files even if they are loaded already; --append adds their rows once more',
  ),
  save: textFlag('--save <file>', 'also write the pipeline that does the same'),
  dryRun: toggle('--dry-run', 'show what would be done, and do nothing'),
  force: toggle('--force', 'overwrite the file of --save'),
  ...readingFlags,
  ...columnFlags,
  allowPrivate: toggle('--allow-private', 'addresses may lead to private and loopback hosts'),
  ...flagsOfRun,
};

const prepare = async (given: Given<typeof takes>, mode: LoadMode) => {
  const { io, into, rejectLimit, zone, skip, only, allowPrivate, files, key } = given;
  if (into === undefined)
    throw new EtlError('ETL_USAGE', { problem: '--into is missing', hint: 'Name the table: --into users.' });
  const columns = await columnRules(given);
  const request = {
    into,
    mode,
    zone,
    rejectLimit,
    skip,
    only,
    allowPrivate,
    columns,
    files,
    key,
    map: new Map(given.map),
    reading: givenReading(given),
    workingDirectory: io.workingDirectory,
  };
  const server = await openServer(given);
  const { withClient } = await import('../../db/client.ts');
  const { prepareLoad } = await import('../../tools/load/prepare-load.ts');
  return { server, draft: await withClient(server, (client) => prepareLoad(client, request)) };
};

export const loadCommand = command({
  name: 'load',
  summary: 'load files into a table, without a pipeline file',
  description: 'Loads files into an existing or a new table, exactly once.',
  takes,
  help: `
An existing table says itself what its columns are. Fields are matched to columns by name (case, blanks, underscores and accents do
not matter), without a header by position. What is left over on either side stops the load, and names the flag that decides.
A new table is made as \`etl init\` would write it. A file that is loaded already is not loaded again.

Examples:
  $ etl load users.csv --into users
  $ etl load 'in/*.csv.gz' --into app.orders --merge
  $ etl load export.csv --into '"User"' --map 'Full Name=name' --skip Notes
  $ etl load users.csv --into users --save pipelines/users.ts   and every night: etl run pipelines/users.ts
  $ gzip -dc users.csv.gz | etl load - --into users`,
  act: async (given) => {
    const { io, save, quiet, json } = given;
    refuseContradiction(given);
    const mode = modeOf(given);
    const { server, draft } = await prepare(given, mode);
    const say = (lines: readonly string[]): void => {
      if (!quiet && !json) io.stdout.write(lines.map((line) => `${line}\n`).join(''));
    };
    say(draftLines(draft, io));
    const { workingDirectory } = io;
    const file = save === undefined ? undefined : resolve(workingDirectory, save);
    const directory = file === undefined ? workingDirectory : dirname(file);
    const { pipeline } = draft;
    if (given.dryRun) {
      const { makePlan } = await import('../../tools/make-plan.ts');
      const options = { workingDirectory, directory, fresh: given.fresh };
      const { plan, error } = await makePlan(pipeline, options, () => Promise.resolve(server));
      return { json: [plan], lines: ({ width, paint }) => planLines(plan, width, paint), error };
    }
    if (file !== undefined) {
      const shown = relative(workingDirectory, file);
      await writePipeline(file, draft.text(shown), given.force);
      say([`Wrote ${shown}`]);
    }
    const isAgain = { again: given.again && mode !== 'replace' };
    const asRun = { ...given, params: {}, fullRefresh: given.again && mode === 'replace' };
    await runLoaded({ pipeline, directory, file, isLoad: true }, asRun, isAgain).catch((error: unknown) => {
      throw withFlags(error);
    });
    return undefined;
  },
});
