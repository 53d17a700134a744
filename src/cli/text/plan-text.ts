// What a run would do, as lines that fit the terminal: one block a table, then the run as a whole.

import type { FilesPlan, PublishingPlan, RunPlan, TablePlan } from '../../run/plan/contract.ts';
import { formatCount, plural } from '../../wording.ts';
import { formatBytes, formatSeconds } from '../../amounts.ts';
import { textWidth, visibleText, wrap } from './layout.ts';
import type { Paint } from './paint.ts';

/** A label, and what it says. */
type Row = readonly [string, string];

const named = (
  { count, names }: { readonly count: number; readonly names: readonly string[] },
  what = '',
): string => `${formatCount(count)}${what}: ${names.join(', ')}${count > names.length ? ', …' : ''}`;

const fileRows = ({ listed, loaded, bytes, added, changed, gone, unchanged, goneRows }: FilesPlan): Row[] => {
  const kinds: readonly (readonly [string, FilesPlan['added'], string])[] = [
    ['new', added, ''],
    ['changed', changed, ''],
    ['gone', gone, `, their rows ${goneRows}`],
  ];
  const counted = plural(listed, 'file');
  const read = loaded === listed ? `all of ${counted}` : `${formatCount(loaded)} of ${counted}`;
  return [
    [
      'files',
      `${read} to load, ${formatBytes(bytes)}${unchanged > 0 ? `; ${formatCount(unchanged)} as in production` : ''}`,
    ],
    ...kinds.flatMap(([label, files, what]): Row[] =>
      files.count === 0 ? [] : [[label, named(files, what)]],
    ),
  ];
};

const waitText = ({ readersWait, writersWait }: PublishingPlan): string => {
  const texts = { none: 'do not wait', instant: 'wait for an instant at the end' } as const;
  const say = (who: string, wait: PublishingPlan['readersWait']): string =>
    `${who} ${wait === 'while rows are written' ? `wait ${wait}` : texts[wait]}`;
  return readersWait === writersWait
    ? say('readers and writers', readersWait)
    : `${say('readers', readersWait)}, ${say('writers', writersWait)}`;
};

const publishRows = (mode: string, publishing: PublishingPlan | null): Row[] => {
  if (publishing === null) return [['publish', mode]];
  const { strategy, orElse, why, ddl, changes, notice } = publishing;
  const other = orElse === null ? '' : `, or ${orElse} if that is cheaper for the rows that change`;
  return [
    ['publish', `${strategy}, because ${why}${other}`],
    ['locks', waitText(publishing)],
    ...changes.map((text): Row => ['change', text]),
    ...ddl.map((text): Row => ['ddl', text]),
    ...(notice === null ? [] : [['notice', notice] as const]),
  ];
};

const tableLines = (
  { schema, table, kind, mode, files, steps, publishing }: TablePlan,
  width: number,
  paint: Paint,
): string[] => {
  const title = `${paint('bold', visibleText(`${schema}.${table}`))}${kind === 'derived' ? ' (derived)' : ''}`;
  const rows: Row[] = [
    ...(files === null ? [] : fileRows(files)),
    ...steps.map(({ step, text }): Row => [step, text]),
    ...publishRows(mode, publishing),
  ];
  const widest = Math.max(...rows.map(([label]) => textWidth(label)));
  const indent = widest + 4;
  return [
    title,
    ...rows.flatMap(([label, text]) =>
      wrap(visibleText(text), width - indent).map((line, place) =>
        place === 0 ? `  ${label.padEnd(widest)}  ${line}` : `${' '.repeat(indent)}${line}`,
      ),
    ),
  ];
};

const outcomeText = ({ outcome, run }: RunPlan): string =>
  ({
    nothing: `Nothing to do: no file is new or changed, nor is the definition, since run ${run}; --full-refresh loads everything again.`,
    continue: `Run ${run} is unfinished: its missing data would be loaded.`,
    load: 'Everything would be loaded.',
    'load new': 'Files that are new or changed would be loaded.',
    refused: 'The run would be refused.',
    unknown: 'It is unknown whether there is anything to do.',
  })[outcome];

const roomText = ({ room: { needed, free } }: RunPlan): string => {
  const known =
    free === null ? "what is free is only known on the server's machine" : `${formatBytes(free)} are free`;
  return needed === null
    ? `room: unknown before the first run; ${known}`
    : `room: about ${formatBytes(needed)} on the server's disk while it publishes; ${known}`;
};

const runTexts = (plan: RunPlan): readonly string[] => {
  const { outcome, prepared, notices, hooks, seconds } = plan;
  if (outcome === 'nothing' || outcome === 'refused') return notices;
  return [
    prepared
      ? 'prepared on the server without rows: SQL, keys, indexes, constraints, data tests'
      : 'nothing was prepared on the server',
    ...(hooks.length === 0
      ? []
      : [`hooks: ${hooks.map(({ hook, call }) => `${hook} (${call})`).join(', ')}`]),
    roomText(plan),
    seconds === null
      ? 'time: unknown before the first run'
      : `time: about ${formatSeconds(seconds)}, by past runs`,
    ...notices,
  ];
};

/** `width`: cells of a line; longer texts go on in the next one. */
export const planLines = (plan: RunPlan, width: number, paint: Paint): string[] => [
  ...plan.tables.flatMap((table) => tableLines(table, width, paint)),
  '',
  ...wrap(paint('bold', outcomeText(plan)), width),
  ...[...plan.why, ...runTexts(plan)].flatMap((text) =>
    wrap(visibleText(text), width - 4).map((line, place) => `${place === 0 ? '  ' : '    '}${line}`),
  ),
];
