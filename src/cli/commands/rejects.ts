// `etl rejects list [run]`: what is wrong with the records that were refused, or those records themselves.

import type { Command } from 'commander';
import { EtlError } from '../../errors.ts';
import type { Fault } from '../../model.ts';
import type { FaultKind, FaultKinds } from '../../reject/store.ts';
import type { RejectedRun, RejectRow } from '../../history/list-rejects.ts';
import { formatCount, linesOf, plural } from '../../wording.ts';
import { formatDate } from '../text/amounts.ts';
import type { CliCommand } from '../command.ts';
import { flag, parseCount, parseRunId, parseString, readFlag, readSwitch } from '../flags.ts';
import { widthOf, written, type Io } from '../io.ts';
import { clip, visibleText } from '../text/layout.ts';
import { paintFor, type Paint } from '../text/paint.ts';
import { askServer, databaseUrlFlag } from '../server.ts';

/** Kinds of faults shown at most: a message of a check may differ in more than values. */
const kindsShown = 100;

/** Records in JSON by default: enough to see the pattern. */
const rejectsInJson = 50;

const examples = `
Default: the run with rejects that ended last. Faults of the same column and code that differ only in values are shown once,
with their count, first place and first record. --limit and --all list the records themselves, with every fault; JSON
contains both, and the first ${rejectsInJson} records. docs/reference/errors.md explains the codes.

Examples:
  $ etl rejects list
  $ etl rejects list --pipeline noaa
  $ etl rejects list 12 --table observation --limit 500
  $ etl rejects list --json --all | jq -r '.rejects[] | [.file, .line, .reason] | @tsv'`;

/** What is to be shown; `limit` undefined: kinds of faults only. */
interface Wanted {
  readonly runId: number | undefined;
  readonly pipeline: string | null;
  readonly table: string | null;
  readonly limit: number | undefined;
}

const faultText = (place: string, { column, code, reason }: Fault | FaultKind, paint: Paint): string => {
  const named = column === null ? '' : ` column ${visibleText(column)}:`;
  return `${paint('bold', visibleText(place))}:${named} ${paint('yellow', code)}: ${visibleText(reason)}`;
};

const rawLine = (raw: string, io: Io, paint: Paint): string =>
  paint('dim', clip(`    ${visibleText(raw)}`, widthOf(io.stdout)));

const headLine = ({ runId, pipeline, state, startedAt, total }: RejectedRun): string =>
  `run ${runId} of ${visibleText(pipeline)} (${state}, started ${formatDate(startedAt)}): ${plural(total, 'reject')}`;

const kindsText = ({ kinds, total }: FaultKinds, io: Io, paint: Paint): string[] => [
  ...kinds.flatMap((kind) => [
    `${faultText(linesOf(kind.file, kind.line, kind.lastLine), kind, paint)} (${plural(kind.count, 'record')})`,
    rawLine(kind.raw, io, paint),
  ]),
  ...(total > kinds.length ? [`and ${formatCount(total - kinds.length)} more kinds of faults`] : []),
  ...(total > 0 ? ['--all lists every record, --limit <n> the first of them'] : []),
];

const rejectText = (reject: RejectRow, io: Io, paint: Paint): string => {
  const place = linesOf(reject.file, reject.line, reject.lastLine);
  const unseen = reject.faults - 1 - reject.more.length;
  const lines = [reject, ...reject.more].map((fault) => faultText(place, fault, paint));
  if (unseen > 0) lines.push(`${visibleText(place)}: and ${plural(unseen, 'more fault')}`);
  return [...lines, rawLine(reject.raw, io, paint)].map((line) => `${line}\n`).join('');
};

type Pages = AsyncIterable<readonly RejectRow[]>;

/** Pages as they come, until nobody reads them any more. */
const printPages = async (pages: Pages, io: Io, textOf: (page: readonly RejectRow[]) => string) => {
  for await (const page of pages) if (!(await written(io.stdout, textOf(page)))) return;
};

const printText = async (
  run: RejectedRun,
  kinds: () => Promise<FaultKinds>,
  pages: Pages | undefined,
  io: Io,
): Promise<void> => {
  const paint = paintFor(io.stdout, io.env);
  await written(io.stdout, `${headLine(run)}\n`);
  if (pages !== undefined)
    return printPages(pages, io, (page) => page.map((reject) => rejectText(reject, io, paint)).join(''));
  const lines = kindsText(await kinds(), io, paint);
  await written(io.stdout, lines.map((line) => `${line}\n`).join(''));
};

/** One JSON document, whose records are written as they are read. */
const printJson = async (run: RejectedRun, kinds: FaultKinds, pages: Pages, io: Io): Promise<void> => {
  const head = JSON.stringify({ ...run, kinds: kinds.kinds, kindsTotal: kinds.total });
  await written(io.stdout, `${head.slice(0, -1)},"rejects":[`);
  let separator = '\n';
  await printPages(pages, io, (page) => {
    const text = separator + page.map((reject) => JSON.stringify(reject)).join(',\n');
    separator = ',\n';
    return text;
  });
  await written(io.stdout, '\n]}\n');
};

const readWanted = (run: string | undefined, command: Command, io: Io): Wanted => {
  const runId = parseRunId(run);
  const pipeline = readFlag(command, 'pipeline', parseString, io) ?? null;
  const limit = readFlag(command, 'limit', parseCount(Number.MAX_SAFE_INTEGER), io);
  const all = readSwitch(command, 'all', io);
  const refuse = (problem: string, hint: string): never => {
    throw new EtlError('ETL_USAGE', { problem, hint });
  };
  if (runId !== undefined && pipeline !== null)
    refuse(
      'a run number and --pipeline exclude each other',
      'A run belongs to one pipeline: give only its number.',
    );
  if (all && limit !== undefined) refuse('--all and --limit exclude each other', 'Give one of them.');
  const table = readFlag(command, 'table', parseString, io) ?? null;
  return { runId, pipeline, table, limit: all ? Infinity : limit };
};

const printRejects = async (run: string | undefined, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const wanted = readWanted(run, command, io);
  const { rejectedRun, rejectPages } = await import('../../history/list-rejects.ts');
  const { faultKinds } = await import('../../reject/store.ts');
  const isFound = await askServer(command, io, async (client) => {
    const found = await rejectedRun(client, wanted);
    if (found === undefined) return false;
    const { runId } = found;
    const kinds = () => faultKinds(client, runId, wanted.table, kindsShown);
    const pages = (limit: number) => rejectPages(client, runId, wanted.table, limit);
    if (json) await printJson(found, await kinds(), pages(wanted.limit ?? rejectsInJson), io);
    else await printText(found, kinds, wanted.limit === undefined ? undefined : pages(wanted.limit), io);
    return true;
  });
  if (isFound) return;
  const nothing = isFound === undefined ? 'no runs yet' : 'no rejects';
  io.stdout.write(
    json ? `${JSON.stringify({ total: 0, kinds: [], kindsTotal: 0, rejects: [] })}\n` : `${nothing}\n`,
  );
};

export const rejectsCommand: CliCommand = {
  name: 'rejects',
  register(program, io) {
    program
      .command('rejects')
      .summary('rejected records, with line and reason')
      .description('Shows rejected records of a run.')
      .usage('<command> [options]')
      .command('list')
      .description(
        'Summarizes why records were rejected, or lists them: file, line, column, code, reason, record.',
      )
      .argument('[run]', 'number of a run')
      .addOption(databaseUrlFlag())
      .addOption(flag('--pipeline <name>', 'the newest run of this pipeline with rejects'))
      .addOption(flag('--table <table>', 'only rejects of this table'))
      .addOption(flag('--limit <n>', 'list the first n records'))
      .addOption(flag('--all', 'list every record'))
      .addOption(flag('--json', 'print JSON'))
      .addOption(flag('--debug', 'print stack traces and causes of errors'))
      .addHelpText('after', examples)
      .action((run: string | undefined, _, command: Command) => printRejects(run, command, io));
  },
};
