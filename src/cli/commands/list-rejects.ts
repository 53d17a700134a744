// `etl rejects list [run]`: summarizes why records were rejected, or lists the records.

import { EtlError } from '../../core/errors/errors.ts';
import type { Fault } from '../../core/model.ts';
import type { FaultKind, FaultKinds } from '../../ledger/rejects/store.ts';
import type { RejectedRun, RejectRow } from '../../ledger/rejects/list-rejects.ts';
import { formatCount, linesOf, plural, visibleJson } from '../../core/wording.ts';
import { formatDate } from '../../core/amounts.ts';
import { command, print } from '../command.ts';
import { countFlag, printing, toggle } from '../inputs.ts';
import { widthOf, written, type Io } from '../io.ts';
import { clip, visibleText } from '../layout.ts';
import { paintFor, type Paint } from '../paint.ts';
import { askRejects, choosing } from './ask-rejects.ts';

/** Number of kinds of faults to list: messages of a pipeline's own checks may all differ. */
const kindsShown = 100;

const rejectsInJson = 50;

export const reasonText = ({ column, code, reason }: Fault | FaultKind, paint: Paint): string => {
  const named = column === null ? '' : `column ${visibleText(column)}: `;
  return `${named}${paint('yellow', code)}: ${visibleText(reason)}`;
};

const faultText = (place: string, fault: Fault | FaultKind, paint: Paint): string =>
  `${paint('bold', visibleText(place))}: ${reasonText(fault, paint)}`;

const rawLine = (raw: string, io: Io, paint: Paint): string =>
  paint('dim', clip(`    ${visibleText(raw)}`, widthOf(io.stdout)));

export const headLine = ({ runId, pipeline, state, startedAt, total, corrected }: RejectedRun): string =>
  `run ${runId} of ${visibleText(pipeline)} (${state}, started ${formatDate(startedAt)}): ${plural(total, 'reject')}` +
  (corrected === 0 ? '' : `, ${corrected === total ? 'all' : formatCount(corrected)} corrected since`);

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
  if (reject.isCorrected) lines.push(`${visibleText(place)}: corrected since`);
  return [...lines, rawLine(reject.raw, io, paint)].map((line) => `${line}\n`).join('');
};

type Pages = AsyncIterable<readonly RejectRow[]>;

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

/** Writes one JSON document page by page, because all records may not fit in memory. */
const printJson = async (run: RejectedRun, kinds: FaultKinds, pages: Pages, io: Io): Promise<void> => {
  const head = visibleJson({ ...run, kinds: kinds.kinds, kindsTotal: kinds.total });
  await written(io.stdout, `${head.slice(0, -1)},"rejects":[`);
  let separator = '\n';
  await printPages(pages, io, (page) => {
    const text = separator + page.map((reject) => visibleJson(reject)).join(',\n');
    separator = ',\n';
    return text;
  });
  await written(io.stdout, '\n]}\n');
};

export const listCommand = command({
  name: 'list',
  description:
    'Summarizes why records were rejected, or lists them: file, line, column, code, reason, record.',
  takes: {
    ...choosing,
    limit: countFlag('--limit <n>', 'list the first n records'),
    all: toggle('--all', 'list every record'),
    ...printing(),
  },
  help: `
Default: the run with rejects that ended last. Shows faults once if they have the same column and code and differ only in
values, with their number, first place and first record. --limit and --all list the records instead, with every fault.
--json prints both, and without --limit or --all the first ${rejectsInJson} records. docs/reference/errors.md explains the codes.

Examples:
  $ etl rejects list
  $ etl rejects list --pipeline noaa
  $ etl rejects list 12 --table observation --limit 500
  $ etl rejects list --json --all | jq -r '.rejects[] | [.file, .line, .reason] | @tsv'`,
  async act(given) {
    const { io, table = null, all } = given;
    if (all && given.limit !== undefined)
      throw new EtlError('ETL_USAGE', {
        problem: '--all and --limit exclude each other',
        hint: 'Give one of them.',
      });
    const limit = all ? Infinity : given.limit;
    const { rejectPages } = await import('../../ledger/rejects/list-rejects.ts');
    const { faultKinds } = await import('../../ledger/rejects/store.ts');
    const asked = await askRejects(given, async (client, run) => {
      const kinds = () => faultKinds(client, run.runId, table, kindsShown);
      const pages = (most: number) => rejectPages(client, run.runId, { table }, most);
      if (given.json) await printJson(run, await kinds(), pages(limit ?? rejectsInJson), io);
      else await printText(run, kinds, limit === undefined ? undefined : pages(limit), io);
      return true;
    });
    if ('nothing' in asked)
      print(
        { json: [{ total: 0, kinds: [], kindsTotal: 0, rejects: [] }], lines: () => [asked.nothing] },
        given,
      );
  },
});
