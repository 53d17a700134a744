// Text of `etl run --profile`: how much time each part of the work took, and advice.

import { formatBytes, formatSeconds } from '../../core/amounts.ts';
import type { RunResult, StepTime } from '../../core/model.ts';
import type { LoadTimes, RunProfile } from '../../core/profile.ts';
import { alignRows, visibleText } from '../layout.ts';
import type { Paint } from '../paint.ts';

const percent = (share: number): string => `${Math.round(100 * share)} %`;

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

const machineRows = (machine: RunProfile['machine']): string[][] =>
  machine
    .filter(({ step }) => step === 'load' || step === 'build')
    .map(({ step, cores, busy, own, server }) => [
      '  machine',
      step,
      `${cores} ${cores === 1 ? 'core' : 'cores'} ${percent(busy)} busy · this process ${percent(own)} · server's sessions ${percent(server)}`,
    ]);

const walRows = (bytes: number | undefined): string[][] =>
  bytes === undefined ? [] : [['  server', 'log', `${formatBytes(bytes)} written, by all sessions`]];

export const profileLines = (
  profile: RunProfile,
  { steps, serverWalBytes }: Pick<RunResult, 'steps' | 'serverWalBytes'>,
  paint: Paint,
): readonly string[] => {
  const rows = [
    ...profile.load.map(loadRow),
    ...buildRows(profile.build),
    ...serverRows(profile.server, steps),
    ...machineRows(profile.machine),
    ...walRows(serverWalBytes),
  ];
  if (rows.length === 0) return [];
  return [
    paint('bold', 'Where the time went'),
    ...alignRows(rows, ['left', 'left', 'left']),
    ...profile.advice.map((sentence) => `  ${visibleText(sentence)}`),
  ];
};
