// `etl schedule set|list|history|remove|pause|resume|run-now`: manages schedules.

import { EtlError } from '../../core/errors/errors.ts';
import { runPriorityMax } from '../../core/limits.ts';
import { defaultQueue } from '../../core/model.ts';
import { dueText } from '../../core/due-text.ts';
import type { Schedule, ScheduleSlot } from '../../worker/schedule/contract.ts';
import { command, group, type CliCommand } from '../command.ts';
import {
  argument,
  choice,
  countFlag,
  databaseUrl,
  flag,
  printing,
  params,
  pipelineArgument,
  redisPrefix,
  textFlag,
  toggle,
  tracing,
} from '../inputs.ts';
import { parseDuration } from '../parsers.ts';
import { loadPipeline } from '../pipeline.ts';
import { formatDate, formatSeconds } from '../../core/amounts.ts';
import { alignRows, visibleText } from '../layout.ts';
import { readRedis } from '../redis.ts';
import { askServer, openKnownServer, openServer } from '../server.ts';
import { withTracing } from '../tracing.ts';

/** Number of due times (slots) that the database keeps per schedule. */
const slotsMax = 1_000;

const lastLine = ({ lastSlot, lastOutcome, job, jobState }: Schedule): readonly string[] => [
  ...(lastSlot === null ? [] : [`  last  ${lastSlot} ${lastOutcome}`]),
  ...(job === null ? [] : [`  run   ${job} ${jobState}`]),
];

const scheduleLines = (schedule: Schedule): readonly string[] => {
  const { name, pipeline, paused, catchUp, priority, queue, lateAfterMs, next, lookError } = schedule;
  const traits = [
    ...(paused ? ['paused'] : []),
    ...(catchUp ? ['catches up'] : []),
    ...(priority === null ? [] : [`priority ${priority}`]),
    ...(queue === defaultQueue ? [] : [`queue ${queue}`]),
    ...(lateAfterMs === null ? [] : [`late after ${formatSeconds(lateAfterMs / 1000)}`]),
  ];
  const head = [visibleText(`${name}: ${pipeline} ${dueText(schedule)}`), ...traits].join(', ');
  return [
    head,
    ...next.map((slot, index) => `  ${index === 0 ? 'next' : '    '}  ${slot}`),
    ...lastLine(schedule),
    ...(lookError === null ? [] : [`  files cannot be listed: ${lookError}; \`etl status\` says why`]),
  ];
};

const common = { databaseUrl, ...printing() };
const named = { ...common, name: argument('<name>', 'name of a schedule') };

const triggers = ['files'] as const;

const setCommand = command({
  name: 'set',
  description: 'Creates a schedule for a pipeline, or replaces it.',
  takes: {
    ...common,
    name: argument('<name>', 'name of the schedule: lower-case letters, digits, - and _'),
    file: pipelineArgument,
    cron: textFlag('--cron <times>', 'times in the five fields of cron, or six with seconds'),
    on: choice(
      '--on <what>',
      'instead of --cron: files enqueues a run when files are new or changed',
      triggers,
    ),
    everyMs: flag('--every <time>', 'with --on files: time between two looks; default: 10s', parseDuration),
    timeZone: textFlag('--tz <zone>', 'time zone of these times, such as Europe/Berlin; default: UTC'),
    params,
    catchUp: toggle('--catch-up', 'run once for slots missed while no worker ran'),
    priority: countFlag(
      '--priority <n>',
      '1 is the highest; runs without a priority come before all of these',
      runPriorityMax,
    ),
    queue: textFlag('--queue <name>', 'queue to use; default: default'),
    lateAfterMs: flag(
      '--late-after <time>',
      "notify receivers of `late` if a slot's run is not published after this time",
      parseDuration,
    ),
  },
  help: `
Fields of cron: minute, hour, day of month, month, day of week; six fields begin with the second. When clocks are changed, a
time that is skipped is due at the change, and a time that occurs twice is due the first time.

Examples:
  $ etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin --catch-up
  $ etl schedule set hourly pipelines/noaa.ts --cron '5 * * * *' --param year=2011 --priority 10
  $ etl schedule set inbox pipelines/noaa.ts --on files --every 30s`,
  async act(given) {
    const { cron, on, everyMs, timeZone, catchUp, priority, queue, lateAfterMs } = given;
    if (cron === undefined && on === undefined)
      throw new EtlError('ETL_USAGE', {
        problem: '--cron is missing',
        hint: "Example: --cron '0 2 * * *' is every day at two; --on files starts a run when files arrive.",
      });
    const { pipeline, directory } = await loadPipeline(given.file, given.io);
    const { schedule } = await import('../../worker/schedule/schedule.ts');
    const { config: connection } = await openServer(given);
    const times = { cron, on, everyMs, timeZone, catchUp, lateAfterMs };
    const options = { connection, params: given.params, directory, priority, queue, ...times };
    const done = await schedule.set(given.name, pipeline, options);
    return { json: [done], lines: () => scheduleLines(done) };
  },
});

const listCommand = command({
  name: 'list',
  description: 'Lists schedules with their next five slots, and the outcome of their last slot.',
  takes: common,
  async act(given) {
    const { listSchedules } = await import('../../worker/schedule/list.ts');
    const found = (await askServer(given, listSchedules)) ?? [];
    return {
      json: [found],
      lines: () => (found.length === 0 ? ['no schedules'] : found.flatMap(scheduleLines)),
    };
  },
});

const slotLine = ({ slot, first, outcome, state, run }: ScheduleSlot): string[] => [
  formatDate(slot),
  first === null ? outcome : `${outcome}, and those since ${formatDate(first)}`,
  run === null ? '' : String(run),
  state ?? '',
];

const historyCommand = command({
  name: 'history',
  description: 'Shows the slots of a schedule, newest first, with the outcome of each.',
  takes: {
    ...named,
    limit: countFlag('--limit <n>', 'list at most this many; default: 20', slotsMax),
  },
  async act(given) {
    const { name, limit } = given;
    const { listSlots } = await import('../../worker/schedule/list.ts');
    const found = await askServer(given, (client) => listSlots(client, name, limit));
    if (found === undefined) throw new EtlError('ETL_SCHEDULE_UNKNOWN', { schedule: name, suggestion: '' });
    const rows = [['slot', 'outcome', 'run', 'ended'], ...found.map(slotLine)];
    return {
      json: [found],
      lines: () =>
        found.length === 0 ? ['no slots yet'] : alignRows(rows, ['left', 'left', 'right', 'left']),
    };
  },
});

const changeCommand = (name: 'remove' | 'pause' | 'resume', past: string, description: string): CliCommand =>
  command({
    name,
    description,
    takes: named,
    async act(given) {
      const { schedule } = await import('../../worker/schedule/schedule.ts');
      await schedule[name](given.name, { connection: (await openKnownServer(given)).config });
      return {
        json: [{ schedule: given.name, [past.toLowerCase()]: true }],
        lines: () => [`${past} ${given.name}`],
      };
    },
  });

const runNowCommand = command({
  name: 'run-now',
  description: 'Enqueues a run of a schedule now, unless one of its runs is waiting or active.',
  takes: { ...named, redisPrefix, tracing },
  async act(given) {
    const { name } = given;
    const { schedule } = await import('../../worker/schedule/schedule.ts');
    const { config: connection } = await openKnownServer(given);
    const site = { connection, ...(await readRedis(given)) };
    const added = await withTracing(given, (tracer) => schedule.runNow(name, { ...site, ...tracer }));
    const { job, isNew } = added;
    return {
      json: [{ schedule: name, ...added }],
      lines: () => [
        isNew ? `Enqueued ${name} as ${job}` : `A run of ${name} is already waiting or active: ${job}`,
      ],
    };
  },
});

export const scheduleCommand = group(
  {
    name: 'schedule',
    summary: 'enqueue runs at set times, or when files arrive',
    description:
      'Manages schedules: workers run pipelines at set times, which are called slots, or when files arrive.',
    help: `
A schedule is a row in the database. The first worker that finds a slot due enqueues its run. See docs/guide/schedules.md.

Examples:
  $ etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin
  $ etl schedule list
  $ etl schedule history nightly
  $ etl schedule run-now nightly`,
  },
  [
    setCommand,
    listCommand,
    historyCommand,
    changeCommand('remove', 'Removed', 'Removes a schedule; runs that it has enqueued stay.'),
    changeCommand('pause', 'Paused', 'Skips the slots of a schedule until it is resumed.'),
    changeCommand('resume', 'Resumed', 'Resumes with the next slot; skipped slots are not caught up.'),
    runNowCommand,
  ],
);
