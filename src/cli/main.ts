// Entry point of the command line: reads .env, parses the arguments, runs one command, reports its
// error and returns the exit code.

import { CommanderError } from 'commander';
import { asEtlError, exitCodes } from '../core/errors/errors.ts';
import { EndWith } from './command.ts';
import { commands } from './commands/table.ts';
import { addDotEnv } from './environment.ts';
import { parseBoolean } from './parsers.ts';
import { processIo, type Io } from './io.ts';
import { paintFor } from './paint.ts';
import { errorJson, errorLines, exitOf } from './text/print-error.ts';
import { createProgram } from './program.ts';
import { usageError } from './usage-error.ts';

const isOn = (value: string | undefined): boolean => {
  const parsed = parseBoolean(value ?? '');
  return 'value' in parsed && parsed.value;
};

/** Looks for a flag without the parser: errors are reported even if the arguments are invalid. */
const isSet = (name: 'debug' | 'json', args: readonly string[], io: Io): boolean =>
  args.includes(`--${name}`) || isOn(io.env[`ETL_${name.toUpperCase()}`]);

const report = (thrown: unknown, args: readonly string[], io: Io): number => {
  const error = asEtlError(thrown);
  const debug = isSet('debug', args, io);
  if (isSet('json', args, io)) io.stdout.write(`${errorJson(error, io.clock(), debug)}\n`);
  const lines = errorLines(error, paintFor(io.stderr, io.env), debug);
  io.stderr.write(lines.map((line) => `${line}\n`).join(''));
  return exitOf(error);
};

/** Turns `help unknown` into `unknown`, because commander would report no error. */
const withoutHelpOfUnknown = (args: readonly string[]): readonly string[] => {
  const isKnown =
    args[1] === undefined || args[1] === 'help' || commands.some(({ name }) => name === args[1]);
  return args[0] === 'help' && !isKnown ? args.slice(1) : args;
};

const runCommand = async (args: readonly string[], io: Io): Promise<number> => {
  const program = createProgram(commands, io);
  try {
    await program.parseAsync(withoutHelpOfUnknown(args), { from: 'user' });
    return exitCodes.done;
  } catch (error) {
    if (error instanceof EndWith) return error.exit;
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return exitCodes.done;
    // Commander printed the help because no command was given.
    if (error.code === 'commander.help') return exitCodes.usage;
    throw usageError(error, program, args);
  }
};

/** The title that `ps` shows to every user. Without flags, which may hold passwords. */
export const processTitle = (args: readonly string[]): string => {
  const firstFlag = args.findIndex((arg) => arg.startsWith('-'));
  return ['etl', ...args.slice(0, firstFlag === -1 ? args.length : firstFlag)].join(' ');
};

/**
 * Runs one command line and returns the exit code. `args`: the arguments after the program's name.
 */
export const main = async (args: readonly string[], io: Io = processIo()): Promise<number> => {
  try {
    if (args[0] === 'complete') {
      const { complete } = await import('./complete.ts');
      complete(args.slice(1), io);
      return exitCodes.done;
    }
    addDotEnv(io.env, io.workingDirectory);
    return await runCommand(args, io);
  } catch (error) {
    return report(error, args, io);
  }
};
