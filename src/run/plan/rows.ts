// The plan of a table as rows of label and text: `etl plan` prints them, and a run saves them.

import type { PlannedRows } from '../../ledger/run/run-story.ts';
import { formatBytes } from '../../core/amounts.ts';
import { formatCount, plural } from '../../core/wording.ts';
import type { FilesPlan, PublishingPlan, TablePlan } from './contract.ts';

type PlanRow = PlannedRows['rows'][number];

const named = ({ count, names }: FilesPlan['added'], what = ''): string =>
  `${formatCount(count)}${what}: ${names.join(', ')}${count > names.length ? ', …' : ''}`;

const fileRows = ({
  listed,
  loaded,
  bytes,
  added,
  changed,
  again,
  unloaded,
  gone,
  unchanged,
  goneRows,
}: FilesPlan): PlanRow[] => {
  const kinds: readonly (readonly [string, FilesPlan['added'], string])[] = [
    ['new', added, ''],
    ['changed', changed, ''],
    ['again', again, ''],
    ['unload', unloaded, ', whose rows are deleted'],
    ['gone', gone, `, whose rows are ${goneRows === 'leave' ? 'deleted' : 'kept'}`],
  ];
  const counted = plural(listed, 'file');
  const read = loaded === listed ? `all of ${counted}` : `${formatCount(loaded)} of ${counted}`;
  const toLoad = loaded === 0 ? `none of ${counted} to load` : `${read} to load, ${formatBytes(bytes)}`;
  return [
    ['files', `${toLoad}${unchanged > 0 ? `; ${formatCount(unchanged)} as in production` : ''}`],
    ...kinds.flatMap(([label, files, what]): PlanRow[] =>
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

const publishRows = (mode: string, publishing: PublishingPlan | null): PlanRow[] => {
  if (publishing === null) return [['publish', mode]];
  const { strategy, orElse, why, ddl, changes, notice } = publishing;
  const other = orElse === null ? '' : `, or ${orElse} if that is cheaper for the rows that change`;
  return [
    ['publish', `${strategy}, because ${why}${other}`],
    ['locks', waitText(publishing)],
    ...changes.map((text): PlanRow => ['change', text]),
    ...ddl.map((text): PlanRow => ['ddl', text]),
    ...(notice === null ? [] : [['notice', notice] as const]),
  ];
};

export const plannedRows = ({
  schema,
  table,
  kind,
  mode,
  files,
  steps,
  publishing,
}: TablePlan): PlannedRows => ({
  table: `${schema}.${table}`,
  isDerived: kind === 'derived',
  rows: [
    ...(files === null ? [] : fileRows(files)),
    ...steps.map(({ step, text }): PlanRow => [step, text]),
    ...publishRows(mode, publishing),
  ],
});
