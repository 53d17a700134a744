// Arguments, variables and errors of the command line, without a server.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { readVersion } from '../../../src/cli/program.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from './fake-io.ts';

const usageCases = [
  ['a misspelt command is suggested', 'rnu', "unknown command 'rnu'", 'Did you mean run?'],
  [
    'a misspelt flag is suggested',
    'run --wrokers 2',
    "unknown option '--wrokers'",
    'Did you mean --workers? `etl run --help`',
  ],
  [
    'a misspelt command of a command is suggested',
    'rejects lst',
    "unknown command 'lst'",
    'Did you mean list? `etl rejects --help`',
  ],
  ['a pipeline file is required', 'run', "missing required argument 'pipeline'", '`etl run --help`'],
  ['one pipeline file is enough', 'run a.ts b.ts', 'too many arguments', '`etl run --help`'],
  ['a flag needs its value', 'run a.ts --workers', "'--workers <n>' argument missing", '`etl run --help`'],
  [
    'no workers cannot work',
    'run a.ts --workers 0',
    "--workers: '0' is not a whole number from 1 to 100",
    '`--workers <n>`',
  ],
  [
    'workers are counted in whole numbers',
    'run a.ts --workers 1.5',
    "'1.5' is not a whole number",
    '`--workers <n>`',
  ],
  [
    'a parameter has a name and a value',
    'run a.ts --param year',
    "--param: 'year' is not of the form name=value",
    '`--param <name=value>`',
  ],
  [
    'progress has four ways',
    'run a.ts --progress loud',
    "'loud' is not one of auto, bar, log, none",
    '`--progress <how>`',
  ],
  ['quiet is not verbose', 'run a.ts -q -v', 'contradict each other', 'Leave one out.'],
  ['a run has a number', 'status last', "'last' is not the number of a run", '`etl status` lists the runs.'],
  ['there is no help of a command that there is not', 'help rn', "unknown command 'rn'", 'Did you mean run?'],
  [
    'completion knows four shells',
    'completion tcsh',
    'Allowed choices are bash, zsh, fish, powershell',
    '`etl completion --help`',
  ],
  ['a pipeline file must exist', 'run missing.ts', 'error ETL_PIPELINE_FILE', ''],
];

it.each(usageCases)('usage errors: exit 2, one line, one hint %s', async (_, args, says, hint) => {
  const io = fakeIo();
  expect(await main(args.split(' '), io)).toBe(2);
  expect(io.stdout.text).toBe('');
  expect(io.stderr.text).toContain(says);
  expect(io.stderr.text).toContain(hint);
  expect(io.stderr.text).toMatch(/^error ETL_\w+: .+\n {2}.+\n$/);
});

const variableCases: [name: string, env: Record<string, string>, says: string][] = [
  ['a count', { ETL_WORKERS: 'many' }, "ETL_WORKERS: 'many' is not a whole number"],
  ['a switch', { ETL_FULL_REFRESH: 'maybe' }, "ETL_FULL_REFRESH: 'maybe' is neither true nor false"],
  ['a choice', { ETL_PROGRESS: 'loud' }, "ETL_PROGRESS: 'loud' is not one of"],
  ['pairs, one a line', { ETL_PARAM: 'year=2011\nmonth' }, "ETL_PARAM: 'month' is not of the form"],
];

describe('variables are checked as flags are, and named in the error', () => {
  it.each(variableCases)('%s', async (_, env, says) => {
    const io = fakeIo({ env });
    expect(await main(['run', 'a.ts'], io)).toBe(2);
    expect(io.stderr.text).toContain(`error ETL_ENVIRONMENT: environment variable ${says}`);
  });

  it('an empty variable is an unset one', async () => {
    const io = fakeIo({ env: { ETL_WORKERS: '', ETL_QUIET: '' } });
    await main(['run', 'missing.ts'], io);
    expect(io.stderr.text).toContain('ETL_PIPELINE_FILE');
  });

  it('a switch can be turned off by its variable', async () => {
    const io = fakeIo({ env: { ETL_QUIET: 'false' } });
    await main(['run', 'missing.ts', '-v'], io);
    expect(io.stderr.text).toContain('ETL_PIPELINE_FILE');
  });

  it('a flag wins over its variable', async () => {
    const io = fakeIo({ env: { ETL_WORKERS: 'many' } });
    await main(['run', 'missing.ts', '--workers', '2'], io);
    expect(io.stderr.text).toContain('ETL_PIPELINE_FILE');
  });
});

describe('.env of the working directory', () => {
  const { directory } = useFiles();
  writeFileSync(join(directory, '.env'), 'ETL_WORKERS=0\nETL_PROGRESS="none" # quiet\n');

  it('is read', async () => {
    const io = fakeIo({ workingDirectory: directory });
    await main(['run', 'missing.ts'], io);
    expect(io.stderr.text).toContain("ETL_WORKERS: '0' is not");
    expect(io.env['ETL_PROGRESS']).toBe('none');
  });

  it('never overrides', async () => {
    const io = fakeIo({ workingDirectory: directory, env: { ETL_WORKERS: '3' } });
    await main(['run', 'missing.ts'], io);
    expect(io.stderr.text).toContain('ETL_PIPELINE_FILE');
  });
});

describe('help and version', () => {
  it('etl --help prints its lesson on stdout', async () => {
    const io = fakeIo();
    expect(await main(['--help'], io)).toBe(0);
    expect(io.stdout.text).toContain('Examples:\n  $ etl run pipelines/noaa.ts');
    expect(io.stderr.text).toBe('');
  });

  it.each([[['run', '--help']], [['help', 'run']]])('%s shows one command', async (args) => {
    const io = fakeIo();
    expect(await main(args, io)).toBe(0);
    expect(io.stdout.text).toContain('Usage: etl run [options] <pipeline>');
  });

  it('etl alone shows the help on stderr and exits 2', async () => {
    const io = fakeIo();
    expect(await main([], io)).toBe(2);
    expect(io.stderr.text).toContain('Usage: etl <command> [options]');
  });

  it('--version prints the version alone', async () => {
    const io = fakeIo();
    expect(await main(['--version'], io)).toBe(0);
    expect(io.stdout.text).toBe(`${readVersion()}\n`);
  });
});

describe('errors', () => {
  it('--json prints the error as JSON on stdout', async () => {
    const io = fakeIo();
    expect(await main(['run', 'missing.ts', '--json'], io)).toBe(2);
    const [line = '', ...rest] = io.stdout.text.trimEnd().split('\n');
    expect(rest).toEqual([]);
    expect(JSON.parse(line)).toMatchObject({ type: 'error', code: 'ETL_PIPELINE_FILE' });
  });

  it('are red on a terminal', async () => {
    const io = fakeIo({ stderr: { isTTY: true }, env: { TERM: 'xterm' } });
    await main(['rnu'], io);
    expect(io.stderr.text).toMatch(/^\u001b\[31merror ETL_USAGE/);
  });

  it('are plain with NO_COLOR', async () => {
    const io = fakeIo({ stderr: { isTTY: true }, env: { TERM: 'xterm', NO_COLOR: '1' } });
    await main(['rnu'], io);
    expect(io.stderr.text).toMatch(/^error ETL_USAGE/);
  });
});

describe('before anything ran', () => {
  const { directory: nowhere } = useFiles();
  it.each([
    { args: ['status'], says: 'no runs yet\n', exit: 0 },
    { args: ['status', '--json'], says: '[]\n', exit: 0 },
    { args: ['rejects', 'list'], says: 'no runs yet\n', exit: 0 },
    { args: ['db', 'status'], says: 'not running\n', exit: 0 },
    { args: ['db', 'stop'], says: 'not running\n', exit: 0 },
    { args: ['status', '7'], says: '', exit: 2 },
  ])('$args says so and starts nothing', async ({ args, says, exit }) => {
    const io = fakeIo({ workingDirectory: nowhere });
    expect(await main(args, io)).toBe(exit);
    expect(io.stdout.text).toBe(says);
  });
});
