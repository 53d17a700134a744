// `etl schedule set|list|history|remove|pause|resume|run-now`: runs at set times.

import type { Command } from 'commander';
import { EtlError } from '../../core/errors/errors.ts';
import { runPriorityMax } from '../../core/limits.ts';
import { defaultQueue } from '../../core/model.ts';
import type { SiteOptions } from '../../worker/options.ts';
import type { Schedule, ScheduleSlot } from '../../worker/schedule/contract.ts';
import type { CliCommand } from '../command.ts';
import {
  flag,
  parseCount,
  parseDuration,
  parseString,
  readFlag,
  readPairs,
  readSwitch,
  paramFlag,
} from '../flags.ts';
import type { Io } from '../io.ts';
import { loadPipeline, pipelineArgument } from '../pipeline.ts';
import { formatDate, formatSeconds } from '../../core/amounts.ts';
import { alignRows, visibleText } from '../layout.ts';
import { readRedis, redisPrefixFlag } from '../redis.ts';
import { askServer, databaseUrlFlag, openServer } from '../server.ts';
import { tracingFlag, withTracing } from '../tracing.ts';
import { visibleJson } from '../../core/wording.ts';

const examples = `
A schedule is a row of the database; the first worker that finds it due enqueues its run. See docs/guide/schedules.md.

Examples:
  $ etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin
  $ etl schedule list
  $ etl schedule history nightly
  $ etl schedule run-now nightly`;

const setExamples = `
The five fields of cron: minute, hour, day of month, month, day of week; an optional sixth in front is the second. A time
that the zone's clock skips is due at the jump; a time that it shows twice is due the first time. An existing schedule of
that name is replaced.

Examples:
  $ etl schedule set nightly pipelines/noaa.ts --cron '0 2 * * *' --tz Europe/Berlin --catch-up
  $ etl schedule set hourly pipelines/noaa.ts --cron '5 * * * *' --param year=2011 --priority 10`;

/** So many are kept. */
const slotsMax = 1_000;

const print = (command: Command, io: Io, data: unknown, lines: readonly string[]): void => {
  const text = readSwitch(command, 'json', io) ? visibleJson(data) : lines.join('\n');
  io.stdout.write(`${text}\n`);
};

const lastLine = ({ lastSlot, lastOutcome, job, jobState }: Schedule): readonly string[] => [
  ...(lastSlot === null ? [] : [`  last  ${lastSlot} ${lastOutcome}`]),
  ...(job === null ? [] : [`  run   ${job} ${jobState}`]),
];

const scheduleLines = (schedule: Schedule): readonly string[] => {
  const { name, pipeline, cron, timeZone, paused, catchUp, priority, queue, lateAfterMs, next } = schedule;
  const traits = [
    ...(paused ? ['paused'] : []),
    ...(catchUp ? ['catches up'] : []),
    ...(priority === null ? [] : [`priority ${priority}`]),
    ...(queue === defaultQueue ? [] : [`queue ${queue}`]),
    ...(lateAfterMs === null ? [] : [`late after ${formatSeconds(lateAfterMs / 1000)}`]),
  ];
  const head = [visibleText(`${name}: ${pipeline} at ${cron} ${timeZone}`), ...traits].join(', ');
  return [
    head,
    ...next.map((slot, place) => `  ${place === 0 ? 'next' : '    '}  ${slot}`),
    ...lastLine(schedule),
  ];
};

const siteOf = async (command: Command, io: Io): Promise<SiteOptions> => ({
  connection: (await openServer(command, io)).config,
});

const setOne = async (name: string, file: string, command: Command, io: Io): Promise<void> => {
  const cron = readFlag(command, 'cron', parseString, io);
  if (cron === undefined)
    throw new EtlError('ETL_USAGE', {
      problem: '--cron is missing',
      hint: "Example: --cron '0 2 * * *' is every day at two.",
    });
  const timeZone = readFlag(command, 'tz', parseString, io);
  const priority = readFlag(command, 'priority', parseCount(runPriorityMax), io);
  const queue = readFlag(command, 'queue', parseString, io);
  const lateAfterMs = readFlag(command, 'lateAfter', parseDuration, io);
  const params = readPairs(command, 'param', io);
  const catchUp = readSwitch(command, 'catchUp', io);
  const { pipeline, directory } = await loadPipeline(file, io);
  const { schedule } = await import('../../worker/schedule/schedule.ts');
  const done = await schedule.set(name, pipeline, {
    ...(await siteOf(command, io)),
    cron,
    params,
    directory,
    catchUp,
    ...(timeZone !== undefined && { timeZone }),
    ...(priority !== undefined && { priority }),
    ...(queue !== undefined && { queue }),
    ...(lateAfterMs !== undefined && { lateAfterMs }),
  });
  print(command, io, done, scheduleLines(done));
};

const listAll = async (command: Command, io: Io): Promise<void> => {
  const { listSchedules } = await import('../../worker/schedule/list.ts');
  const found = (await askServer(command, io, listSchedules)) ?? [];
  print(command, io, found, found.length === 0 ? ['no schedules'] : found.flatMap(scheduleLines));
};

const slotLine = ({ slot, first, outcome, state, run }: ScheduleSlot): string[] => [
  formatDate(slot),
  first === null ? outcome : `${outcome}, and those since ${formatDate(first)}`,
  run === null ? '' : String(run),
  state ?? '',
];

const showHistory = async (name: string, command: Command, io: Io): Promise<void> => {
  const limit = readFlag(command, 'limit', parseCount(slotsMax), io);
  const { listSlots } = await import('../../worker/schedule/list.ts');
  const found = await askServer(command, io, (client) => listSlots(client, name, limit));
  if (found === undefined) throw new EtlError('ETL_SCHEDULE_UNKNOWN', { schedule: name, suggestion: '' });
  const rows = [['slot', 'outcome', 'run', 'ended'], ...found.map(slotLine)];
  const lines = alignRows(rows, ['left', 'left', 'right', 'left']).map((line) => line.trimEnd());
  print(command, io, found, found.length === 0 ? ['no slots yet'] : lines);
};

const changes = {
  remove: { summary: 'Removes a schedule; runs that it has enqueued stay.', past: 'Removed' },
  pause: { summary: 'Skips the slots of a schedule until it is resumed.', past: 'Paused' },
  resume: { summary: 'Resumes with the next slot; skipped slots are not caught up.', past: 'Resumed' },
} as const;

const changeOne = async (
  change: keyof typeof changes,
  name: string,
  command: Command,
  io: Io,
): Promise<void> => {
  const { schedule } = await import('../../worker/schedule/schedule.ts');
  await schedule[change](name, await siteOf(command, io));
  print(command, io, { schedule: name, [changes[change].past.toLowerCase()]: true }, [
    `${changes[change].past} ${name}`,
  ]);
};

const runNow = async (name: string, command: Command, io: Io): Promise<void> => {
  const { schedule } = await import('../../worker/schedule/schedule.ts');
  const site = { ...(await siteOf(command, io)), ...(await readRedis(command, io)) };
  const added = await withTracing(command, io, (tracing) => schedule.runNow(name, { ...site, ...tracing }));
  const { job, isNew } = added;
  const text = isNew ? `Enqueued ${name} as ${job}` : `A run of ${name} is already waiting or active: ${job}`;
  print(command, io, { schedule: name, ...added }, [text]);
};

const addSet = (add: (name: string, description: string) => Command, io: Io): Command =>
  add('set', 'Creates a schedule for a pipeline, or replaces it.')
    .argument('<name>', 'name of the schedule: lower-case letters, digits, - and _')
    .addArgument(pipelineArgument())
    .addOption(flag('--cron <times>', 'times: the five fields of cron, or six with seconds'))
    .addOption(flag('--tz <zone>', 'time zone of these times, such as Europe/Berlin; default: UTC'))
    .addOption(paramFlag())
    .addOption(flag('--catch-up', 'run once for slots missed while no worker ran'))
    .addOption(flag('--priority <n>', '1 is the highest; runs without a priority come before all of these'))
    .addOption(flag('--queue <name>', 'queue to use; default: default'))
    .addOption(
      flag(
        '--late-after <time>',
        'tell receivers of `late` when a slot has no published run after this time',
      ),
    )
    .addHelpText('after', setExamples)
    .action((name: string, file: string, _, command: Command) => setOne(name, file, command, io));

export const scheduleCommand: CliCommand = {
  name: 'schedule',
  register(program, io) {
    const group = program
      .command('schedule')
      .summary('enqueue runs at set times')
      .description('Manages schedules, by which workers run pipelines at set times.')
      .usage('<command> [options]')
      .addHelpText('after', examples);
    const add = (name: string, description: string): Command =>
      group
        .command(name)
        .description(description)
        .addOption(databaseUrlFlag())
        .addOption(flag('--json', 'print JSON'))
        .addOption(flag('--debug', 'print stack traces and causes of errors'));
    addSet(add, io);
    add('list', 'Lists schedules with their next five times, and their last time with its outcome.').action(
      (_, command: Command) => listAll(command, io),
    );
    add('history', 'Shows the slots of a schedule, newest first, with the outcome of each.')
      .argument('<name>', 'name of a schedule')
      .addOption(flag('--limit <n>', 'list at most this many; default: 20'))
      .action((name: string, _, command: Command) => showHistory(name, command, io));
    for (const change of ['remove', 'pause', 'resume'] as const)
      add(change, changes[change].summary)
        .argument('<name>', 'name of a schedule')
        .action((name: string, _, command: Command) => changeOne(change, name, command, io));
    add('run-now', 'Enqueues a run of a schedule now, unless one of its runs is waiting or active.')
      .argument('<name>', 'name of a schedule')
      .addOption(redisPrefixFlag())
      .addOption(tracingFlag())
      .action((name: string, _, command: Command) => runNow(name, command, io));
  },
};
