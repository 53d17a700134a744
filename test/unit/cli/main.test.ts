// Arguments, variables and errors of the command line, without a server.

import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { main } from '../../../src/cli/main.ts';
import { readVersion } from '../../../src/cli/program.ts';
import { useFiles } from '../../helpers/files.ts';
import { fakeIo } from './fake-io.ts';

const usageCases = [
  {
    name: 'a misspelt command is suggested',
    args: ['rnu'],
    says: "unknown command 'rnu'",
    hint: 'Did you mean run?',
  },
  {
    name: 'a misspelt flag is suggested',
    args: ['run', '--wrokers', '2'],
    says: "unknown option '--wrokers'",
    hint: 'Did you mean --workers? `etl run --help`',
  },
  {
    name: 'a misspelt command of a command is suggested',
    args: ['rejects', 'lst'],
    says: "unknown command 'lst'",
    hint: 'Did you mean list? `etl rejects --help`',
  },
  {
    name: 'a pipeline file is required',
    args: ['run'],
    says: "missing required argument 'pipeline'",
    hint: '`etl run --help`',
  },
  {
    name: 'one pipeline file is enough',
    args: ['run', 'a.ts', 'b.ts'],
    says: 'too many arguments',
    hint: '`etl run --help`',
  },
  {
    name: 'a flag needs its value',
    args: ['run', 'a.ts', '--workers'],
    says: "'--workers <n>' argument missing",
    hint: '`etl run --help`',
  },
  {
    name: 'no workers cannot work',
    args: ['run', 'a.ts', '--workers', '0'],
    says: "--workers: '0' is not a whole number from 1 to 100",
    hint: '`--workers <n>`',
  },
  {
    name: 'workers are counted in whole numbers',
    args: ['run', 'a.ts', '--workers', '1.5'],
    says: "'1.5' is not a whole number",
    hint: '`--workers <n>`',
  },
  {
    name: 'a parameter has a name and a value',
    args: ['run', 'a.ts', '--param', 'year'],
    says: "--param: 'year' is not of the form name=value",
    hint: '`--param <name=value>`',
  },
  {
    name: 'progress has four ways',
    args: ['run', 'a.ts', '--progress', 'loud'],
    says: "'loud' is not one of auto, bar, log, none",
    hint: '`--progress <how>`',
  },
  {
    name: 'quiet is not verbose',
    args: ['run', 'a.ts', '-q', '-v'],
    says: 'contradict each other',
    hint: 'Leave one out.',
  },
  {
    name: 'a run has a number',
    args: ['status', 'last'],
    says: "'last' is not the number of a run",
    hint: '`etl status` lists the runs.',
  },
  {
    name: 'there is no help of a command that there is not',
    args: ['help', 'rn'],
    says: "unknown command 'rn'",
    hint: 'Did you mean run?',
  },
  {
    name: 'completion knows four shells',
    args: ['completion', 'tcsh'],
    says: 'Allowed choices are bash, zsh, fish, powershell',
    hint: '`etl completion --help`',
  },
  {
    name: 'a pipeline file must exist',
    args: ['run', 'missing.ts'],
    says: 'error ETL_PIPELINE_FILE',
    hint: '',
  },
];

describe('usage errors: exit 2, one line, one hint', () => {
  it.each(usageCases)('$name', async ({ args, says, hint }) => {
    const io = fakeIo();
    expect(await main(args, io)).toBe(2);
    expect(io.stdout.text).toBe('');
    expect(io.stderr.text).toContain(says);
    expect(io.stderr.text).toContain(hint);
    expect(io.stderr.text).toMatch(/^error ETL_\w+: .+\n {2}.+\n$/);
  });
});

const variableCases = [
  { name: 'a count', env: { ETL_WORKERS: 'many' }, says: "ETL_WORKERS: 'many' is not a whole number" },
  {
    name: 'a switch',
    env: { ETL_FULL_REFRESH: 'maybe' },
    says: "ETL_FULL_REFRESH: 'maybe' is neither true nor false",
  },
  { name: 'a choice', env: { ETL_PROGRESS: 'loud' }, says: "ETL_PROGRESS: 'loud' is not one of" },
  {
    name: 'pairs, one a line',
    env: { ETL_PARAM: 'year=2011\nmonth' },
    says: "ETL_PARAM: 'month' is not of the form",
  },
];

describe('variables are checked as flags are, and named in the error', () => {
  it.each(variableCases)('$name', async ({ env, says }) => {
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
