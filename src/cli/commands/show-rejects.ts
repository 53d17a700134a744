// `etl rejects show <place>`: shows one rejected record in full.

import { EtlError } from '../../core/errors/errors.ts';
import type { RejectRow } from '../../ledger/rejects/list-rejects.ts';
import type { ShownField } from '../../ledger/rejects/reject-records.ts';
import { formatCount, linesOf, plural } from '../../core/wording.ts';
import { command } from '../command.ts';
import { argument, printing } from '../inputs.ts';
import { alignRows, visibleText } from '../layout.ts';
import type { Paint } from '../paint.ts';
import { askRejects, choosing } from './ask-rejects.ts';
import { headLine, reasonText } from './list-rejects.ts';

export interface ShownReject extends RejectRow {
  readonly fields: readonly ShownField[] | null;
  readonly isCut: boolean;
}

/** Parses `file:line` or `file:line-lastLine`. Errors: ETL_USAGE. */
const parsePlace = (place: string): { readonly file: string; readonly line: number } => {
  const [, file, line] = /^(.+):(\d{1,15})(?:-\d+)?$/s.exec(place) ?? [];
  if (file !== undefined) return { file, line: Number(line) };
  throw new EtlError('ETL_USAGE', {
    problem: `'${place}' is not the place of a record`,
    hint: 'A place is a file and a line, as `etl rejects list` prints them: prices.csv:35.',
  });
};

const fieldLines = (fields: readonly ShownField[], paint: Paint): readonly string[] =>
  alignRows(
    fields.map(({ name, text, isAtFault }, index) => [
      isAtFault ? '>' : '',
      String(index + 1),
      visibleText(name),
      isAtFault ? paint('yellow', visibleText(text)) : visibleText(text),
    ]),
    ['left', 'right', 'left', 'left'],
  );

const rejectLines = (reject: ShownReject, paint: Paint): readonly string[] => {
  const { file, line, lastLine, byte, record, table, faults, more, fields, raw, isCut, isCorrected } = reject;
  const place = linesOf(file, line, lastLine);
  const unseen = faults - 1 - more.length;
  return [
    '',
    `${paint('bold', visibleText(place))}: byte ${formatCount(byte)}, record ${formatCount(record)}, table ${visibleText(table)}`,
    ...[reject, ...more].map((fault) => `  ${reasonText(fault, paint)}`),
    ...(unseen > 0 ? [`  and ${plural(unseen, 'more fault')}`] : []),
    ...(isCorrected ? ['  corrected since'] : []),
    ...(fields === null
      ? []
      : ['  fields:', ...fieldLines(fields, paint).map((text) => `  ${text}`.trimEnd())]),
    `  record${isCut ? ', of which only the beginning was kept' : ''}:`,
    `    ${visibleText(raw)}`,
  ];
};

export const showCommand = command({
  name: 'show',
  description: 'Shows a rejected record in full: its place, every fault, its fields, its text.',
  takes: {
    place: argument('<place>', 'file and line, as `etl rejects list` prints them: prices.csv:35'),
    ...choosing,
    ...printing(),
  },
  help: `
Default: the run with rejects that ended last. Fields of columns at fault are marked with >.

Examples:
  $ etl rejects show prices.csv:35
  $ etl rejects show data/2024.csv:117 12 --json | jq '.rejects[0].fields'`,
  async act(given) {
    const { place, table = null } = given;
    const { file, line } = parsePlace(place);
    const { isCut, markedFields, rejectsAt } = await import('../../ledger/rejects/reject-records.ts');
    const asked = await askRejects(given, async (client, run) => {
      const found = await rejectsAt(client, run.runId, { table, file }, line);
      if (found.length === 0)
        throw new EtlError('ETL_USAGE', {
          problem: `run ${run.runId} has no reject at ${place}`,
          hint: `\`etl rejects list ${run.runId} --all\` lists the places.`,
        });
      const rejects = found.map(({ header, format, ...reject }): ShownReject => ({
        ...reject,
        fields: markedFields(reject, header, format),
        isCut: isCut(reject),
      }));
      return { run, rejects };
    });
    if ('nothing' in asked) return { json: [{ total: 0, rejects: [] }], lines: () => [asked.nothing] };
    const { run, rejects } = asked.found;
    return {
      json: [{ ...run, rejects }],
      lines: ({ paint }) => [headLine(run), ...rejects.flatMap((reject) => rejectLines(reject, paint))],
    };
  },
});
