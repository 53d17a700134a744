// Derives advice from the profile of a run: what limited it, and what would make it faster.
// docs/operations/scale.md, "What a profile says", compares predictions with measured runs.

import { formatSeconds } from '../core/amounts.ts';
import type { PipelineSpec } from '../core/declaration.ts';
import type { StepTime, TimedStep } from '../core/model.ts';
import type { MachineUse, Measurements } from '../core/profile.ts';
import { firstOf } from '../core/wording.ts';
import { needOfStaging } from '../pipeline/check/table-checks.ts';

/** If the machine is busier than this, more workers do not help. */
const busyShareMin = 0.85;
/** A server session that runs in this share of the samples computes instead of waiting. */
const runningShareMin = 0.5;
/** If other programs use more of the machine, the durations allow no prediction. */
const othersShareMax = 0.3;
/** If workers or steps were active for less of the time, the run mostly waited. */
const workedShareMin = 0.5;
/** In a step shorter than this, starting threads takes as long as their work. */
const waitingSecondsMin = 2;
const savingShareMin = 0.05;
const tablesNamedMax = 5;
/**
 * Extra time of COPY when its rows are logged, as a share of its unlogged time
 * (docs/experiments.md, experiment 1).
 */
const logCostShare = 0.2;

const percent = (share: number): string => `${Math.round(100 * share)} %`;

const secondsOf = (steps: readonly StepTime[], name: TimedStep): number =>
  steps.find(({ step }) => step === name)?.seconds ?? 0;

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

const loadShares = ({ load }: Measurements) => {
  const [read, decode, copy, ledger] = (['read', 'decode', 'copy', 'ledger'] as const).map((key) =>
    sum(load.map((times) => times[key])),
  ) as [number, number, number, number];
  const total = Math.max(read + decode + copy + ledger, 1);
  return { read: read / total, decode: decode / total, copy: copy / total, seconds: total / 1000 };
};

/** Share of the machine that other programs use, including other server sessions. */
const othersOf = ({ busy, own, server }: MachineUse): number => Math.max(busy - own - server, 0);

/**
 * Says what kept the machine busy. The run's server sessions are named only if they were sampled.
 */
const busyMachine = (machine: MachineUse, isServerKnown: boolean): string => {
  const { cores, busy, own, server } = machine;
  const ours = { name: 'this process', share: own, advice: 'More cores help; more --workers do not.' };
  const known = isServerKnown
    ? [
        { name: 'other programs', share: othersOf(machine), advice: 'Without them the run is faster.' },
        ours,
        {
          name: "the run's sessions on the server",
          share: server,
          advice: 'More cores, or a server on another machine, help; more --workers do not.',
        },
      ]
    : [
        {
          name: 'other programs, among them a server on this machine',
          share: othersOf(machine),
          advice: 'A run with --profile tells them apart.',
        },
        ours,
      ];
  const uses = known.toSorted((one, other) => other.share - one.share);
  const shares = uses.map(({ name, share }) => `${percent(share)} by ${name}`).join(', ');
  const whole = `${cores === 1 ? 'its core was' : `its ${cores} cores were`} ${percent(busy)} busy while loading: ${shares}`;
  return `This machine is the limit: ${whole}. ${uses[0]!.advice}`;
};

const loadAdvice = (profile: Measurements, loadSeconds: number): string => {
  const { read, decode, copy, seconds } = loadShares(profile);
  if (loadSeconds >= waitingSecondsMin && seconds < loadSeconds * workedShareMin)
    return `Waiting is the limit: workers of this process were busy for ${formatSeconds(seconds)} of the ${formatSeconds(loadSeconds)} that loading took. In the rest, workers of other processes loaded, or the server was unreachable.`;
  const machine = profile.machine.find(({ step }) => step === 'load');
  const sessions = profile.server.filter(({ step }) => step === 'load');
  if (machine !== undefined && machine.busy >= busyShareMin) return busyMachine(machine, sessions.length > 0);
  const idle = machine === undefined ? '' : ` This machine was ${percent(1 - machine.busy)} idle.`;
  if (decode >= copy && decode >= read)
    return `Decoding is the limit: ${percent(decode)} of the workers' time while loading.${idle} More --workers help as long as there are idle cores.`;
  if (read > copy)
    return `Reading is the limit: ${percent(read)} of the workers' time while loading.${idle} More --workers help if disk or network can give more.`;
  const waited = `The server is the limit: ${percent(copy)} of the workers' time while loading was waiting for COPY`;
  const [doing] = sessions;
  if (doing === undefined)
    return `${waited}.${idle} A run with --profile also looks at what the server's sessions are doing.`;
  const running = sessions.find((one) => one.doing === 'running')?.share ?? 0;
  return running >= runningShareMin
    ? `${waited}, and its sessions were computing in ${percent(running)} of the samples.${idle} More --workers help if the server has idle cores.`
    : `${waited}, and its sessions waited themselves, mostly ${doing.doing}. Check its disk, locks and settings.`;
};

const buildAdvice = ({ build }: Measurements): string => {
  const ofWhat = (what: string) =>
    sum(build.filter((one) => one.what === what).map(({ seconds }) => seconds));
  const total = Math.max(sum(build.map(({ seconds }) => seconds)), 0.001);
  const keys = (ofWhat('primary key') + ofWhat('indexes')) / total;
  return `Building takes longer than loading: rows ${percent(ofWhat('rows') / total)}, keys and indexes ${percent(keys)}. Fewer indexes, more maintenance_work_mem or more cores for the server shorten it.`;
};

/** Returns the names of the tables that are staged although nothing needs it. */
const couldLoadDirectly = ({ tables }: PipelineSpec): readonly string[] =>
  tables
    .filter((one) => one.kind === 'source' && one.staging === 'typed' && needOfStaging(one) === undefined)
    .map(({ name }) => name);

/** Begins the sentence about `staging: 'none'`. By these words, a plan finds an earlier run's figure. */
const directWords = (tables: readonly string[]): string =>
  `staging: 'none' for ${firstOf(tables, tablesNamedMax).join(', ')} would save about`;

/** Returns what an earlier run said about the tables that could do without staging now. */
export const directAdvice = (spec: PipelineSpec, advice: readonly string[]): string | undefined => {
  const tables = couldLoadDirectly(spec);
  return tables.length === 0 ? undefined : advice.find((text) => text.startsWith(directWords(tables)));
};

/**
 * Returns the seconds that `staging: 'none'` would save: rows are not written a second time, but
 * COPY writes them to the write-ahead log.
 */
const savedWithoutStaging = (
  profile: Measurements,
  steps: readonly StepTime[],
  tables: readonly string[],
): number => {
  const buildTotal = sum(profile.build.map(({ seconds }) => seconds));
  if (buildTotal === 0) return 0;
  const rows = sum(
    profile.build
      .filter(({ table, what }) => what === 'rows' && tables.includes(table))
      .map(({ seconds }) => seconds),
  );
  // Tables are built side by side, so a table gets its share of the step's duration.
  const saved = (rows / buildTotal) * secondsOf(steps, 'build');
  const loads = profile.load.filter(({ table }) => tables.includes(table));
  const waited = loadShares({ ...profile, load: loads }).copy * secondsOf(steps, 'load');
  return saved - waited * logCostShare;
};

const waitingAdvice = (steps: readonly StepTime[], seconds: number): string | undefined => {
  const others = secondsOf(steps, 'connect') + secondsOf(steps, 'hooks') + secondsOf(steps, 'wait');
  return others >= waitingSecondsMin && others > seconds * (1 - workedShareMin)
    ? `Waiting is the limit: ${formatSeconds(others)} of ${formatSeconds(seconds)} passed in hooks, or in waiting for the server or for another run.`
    : undefined;
};

export const adviceOf = (
  profile: Measurements,
  steps: readonly StepTime[],
  spec: PipelineSpec,
  seconds: number,
): readonly string[] => {
  if (profile.load.length === 0) return [];
  const waiting = waitingAdvice(steps, seconds);
  if (waiting !== undefined) return [waiting];
  const builds = secondsOf(steps, 'build') > secondsOf(steps, 'load');
  // Without --profile, a server on this machine would count as other programs.
  const isSampled = profile.server.length > 0;
  const isUndisturbed = profile.machine.every(
    (machine) => !isSampled || machine.step !== 'load' || othersOf(machine) <= othersShareMax,
  );
  const tables = couldLoadDirectly(spec);
  const saved = isUndisturbed ? savedWithoutStaging(profile, steps, tables) : 0;
  return [
    loadAdvice(profile, secondsOf(steps, 'load')),
    ...(builds ? [buildAdvice(profile)] : []),
    ...(saved > savingShareMin * seconds
      ? [
          `${directWords(tables)} ${formatSeconds(saved)} of ${formatSeconds(seconds)}: rows are written once then, and a chunk that is aborted leaves dead rows.`,
        ]
      : []),
  ];
};
