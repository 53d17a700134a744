// Where the time of a run went, as lines; and what that says about what to raise.

import type { LoadTimes, RunProfile, RunStep, StepTime } from '../../model.ts';
import { formatSeconds } from '../../amounts.ts';
import { alignRows, visibleText } from './layout.ts';
import type { Paint } from './paint.ts';

const percent = (share: number): string => `${Math.round(100 * share)} %`;

/** Shares below this say nothing. */
const shareShownMin = 0.02;

const loadNames: Readonly<Record<keyof LoadTimes, string>> = {
  decode: 'decoding',
  copy: 'COPY',
  read: 'reading',
  ledger: 'ledger and commit',
};

const keys = Object.keys(loadNames) as (keyof LoadTimes)[];

const sumOf = (times: LoadTimes): number => keys.reduce((sum, key) => sum + times[key], 0);

const loadRow = ({ table, ...times }: RunProfile['load'][number]): string[] => {
  const total = sumOf(times);
  const parts = keys
    .map((key) => ({ key, share: times[key] / total }))
    .filter(({ share }) => share >= shareShownMin)
    .toSorted((one, other) => other.share - one.share)
    .map(({ key, share }) => `${loadNames[key]} ${percent(share)}`);
  return ['  load', visibleText(table), `${parts.join(' · ')} of ${formatSeconds(total / 1000)} of workers`];
};

const buildRows = (build: RunProfile['build']): string[][] => {
  const tables = [...new Set(build.map(({ table }) => table))];
  return tables.map((table) => {
    const own = build.filter((one) => one.table === table);
    const parts = own.map(({ what, seconds }) => `${what} ${formatSeconds(seconds)}`);
    return ['  build', visibleText(table), parts.join(' · ')];
  });
};

const serverRows = (server: RunProfile['server'], steps: readonly StepTime[]): string[][] =>
  steps.flatMap(({ step }) => {
    const own = server.filter((one) => one.step === step && one.share >= shareShownMin);
    const parts = own.map(({ doing, share }) => `${visibleText(doing)} ${percent(share)}`);
    return own.length === 0 ? [] : [['  server', step, parts.join(' · ')]];
  });

const shareOf = (server: RunProfile['server'], step: RunStep, doing: string): number =>
  server.find((one) => one.step === step && one.doing === doing)?.share ?? 0;

/** What to raise, from what was waited for longest. */
const advice = ({ load, server }: RunProfile, steps: readonly StepTime[]): string => {
  const seconds = (name: RunStep): number => steps.find(({ step }) => step === name)?.seconds ?? 0;
  if (seconds('build') > seconds('load'))
    return 'Building takes most of the time: use fewer indexes, or give the server more maintenance_work_mem and cores.';
  const decode = load.reduce((sum, times) => sum + times.decode, 0);
  const copy = load.reduce((sum, times) => sum + times.copy, 0);
  if (decode > copy)
    return 'Loading waits for decoding: more --workers help as long as this machine has idle cores.';
  return shareOf(server, 'load', 'running') >= 0.5
    ? 'Loading waits for the server, which is busy: give it more cores, or load fewer columns.'
    : 'Loading waits for the server, which is waiting itself (see above): check its disk, locks and settings.';
};

/** The lines of `--profile`. */
export const profileLines = (
  profile: RunProfile,
  steps: readonly StepTime[],
  paint: Paint,
): readonly string[] => {
  const rows = [
    ...profile.load.map(loadRow),
    ...buildRows(profile.build),
    ...serverRows(profile.server, steps),
  ];
  if (rows.length === 0) return [];
  return [
    paint('bold', 'Where the time went'),
    ...alignRows(rows, ['left', 'left', 'left']),
    `  ${advice(profile, steps)}`,
  ];
};
