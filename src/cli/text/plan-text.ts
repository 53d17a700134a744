// Text of `etl plan`: a block of lines per table, and then lines about the whole run.

import type { PlannedRows, RunStory } from '../../ledger/run/run-story.ts';
import type { RunPlan } from '../../run/plan/contract.ts';
import { plannedRows } from '../../run/plan/rows.ts';
import { formatBytes, formatSeconds } from '../../core/amounts.ts';
import { plural } from '../../core/wording.ts';
import { textWidth, visibleText, wrap, wrapIndented } from '../layout.ts';
import type { Paint } from '../paint.ts';

const tableLines = ({ table, isDerived, rows }: PlannedRows, width: number, paint: Paint): string[] => {
  const title = `${paint('bold', visibleText(table))}${isDerived ? ' (derived)' : ''}`;
  const widest = Math.max(...rows.map(([label]) => textWidth(label)));
  const indent = widest + 4;
  return [
    title,
    ...rows.flatMap(([label, text]) =>
      wrap(visibleText(text), width - indent).map((line, index) =>
        index === 0 ? `  ${label.padEnd(widest)}  ${line}` : `${' '.repeat(indent)}${line}`,
      ),
    ),
  ];
};

export const keptPlanLines = (
  { tables, rowsCut }: RunStory['plan'],
  width: number,
  paint: Paint,
): string[] => [
  ...tables.flatMap((table) => tableLines(table, width, paint)),
  ...(rowsCut === 0 ? [] : [`and ${plural(rowsCut, 'more line')}, which were not stored`]),
];

const partText = ({ tables }: RunPlan): string => {
  const files = tables.flatMap((table) => table.files ?? []);
  if (files.some(({ loaded }) => loaded > 0)) return 'Files that are new or changed would be loaded.';
  const leaves = files.some(
    ({ unloaded, gone, goneRows }) => unloaded.count > 0 || (goneRows === 'leave' && gone.count > 0),
  );
  return leaves
    ? 'No file would be loaded; rows of files would be deleted from production.'
    : 'No file would be loaded; the definition has changed since the last published run.';
};

const wholeText = ({ tables }: RunPlan): string =>
  tables.some(({ extent, files }) => extent === 'part' && files !== null)
    ? 'All files of replaced tables would be loaded, and new or changed files of the other tables.'
    : 'Everything would be loaded.';

const outcomeText = (plan: RunPlan): string => {
  const { outcome, run } = plan;
  return {
    nothing: `Nothing to do: files and definition are the same as in run ${run}; --full-refresh loads everything again.`,
    continue: `Run ${run} is unfinished: its missing data would be loaded.`,
    load: wholeText(plan),
    'load new': partText(plan),
    refused: 'The run would be refused.',
    unknown: 'It is unknown whether there is anything to do.',
  }[outcome];
};

/** Text for a missing estimate, which needs an earlier run. 'unknown': no server answered. */
const unknownText = ({ outcome }: RunPlan): string =>
  outcome === 'unknown' ? 'unknown' : 'unknown before the first run';

const roomText = (plan: RunPlan): string => {
  const { needed, free } = plan.room;
  if (needed === null)
    return `room: ${unknownText(plan)}${free === null ? '' : `; ${formatBytes(free)} are free`}`;
  const known =
    free === null ? "free space is known only on the server's machine" : `${formatBytes(free)} are free`;
  return `room: about ${formatBytes(needed)} on the server's disk while it publishes; ${known}`;
};

const receiversText = ({ receivers }: RunPlan): readonly string[] =>
  receivers.length === 0
    ? []
    : [
        `notified: ${receivers.map(({ channel, receiver, on }) => `${channel} ${receiver} (${on.join(', ')})`).join(', ')}`,
      ];

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
    ...receiversText(plan),
    roomText(plan),
    seconds === null ? `time: ${unknownText(plan)}` : `time: about ${formatSeconds(seconds)}, by past runs`,
    ...notices,
  ];
};

const aboutFiles = new Set(['files', 'new', 'changed', 'again', 'unload', 'gone']);

const tablesOf = ({ tables, outcome }: RunPlan): readonly PlannedRows[] => {
  const planned = tables.map(plannedRows);
  if (outcome !== 'nothing') return planned;
  return planned
    .map((table) => ({ ...table, rows: table.rows.filter(([label]) => aboutFiles.has(label)) }))
    .filter(({ rows }) => rows.length > 0);
};

export const planLines = (plan: RunPlan, width: number, paint: Paint): string[] => [
  ...tablesOf(plan).flatMap((table) => tableLines(table, width, paint)),
  '',
  ...wrap(paint('bold', outcomeText(plan)), width),
  ...[...plan.why, ...runTexts(plan)].flatMap((text) => wrapIndented(visibleText(text), width)),
];
