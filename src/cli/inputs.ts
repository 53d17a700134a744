// Arguments and flags of commands. Every flag is also an ETL_* variable.

import { Argument, Option, type Command } from 'commander';
import { EtlError } from '../core/errors/errors.ts';
import { chunkBytesMax, workersMax } from '../core/limits.ts';
import type { Io } from './io.ts';
import {
  parseBoolean,
  parseChoice,
  parseCount,
  parseNames,
  parsePair,
  parseString,
  type Parser,
} from './parsers.ts';

export const defaultFolder = 'pipelines';

export const standardOutput = '-';

/** An argument or a flag. Errors of `read`: ETL_USAGE, ETL_ENVIRONMENT. */
export interface Input<T> {
  readonly addTo: (command: Command) => void;
  readonly read: (command: Command, io: Io) => T;
}

interface Given {
  readonly texts: readonly string[];
  /** The variable with the texts; undefined if the texts are from the command line. */
  readonly variable?: string;
  readonly nowMs: number;
}

/** Reads a flag, or else its variable. An empty variable counts as unset. */
const givenTexts = (command: Command, option: Option, io: Io): Given => {
  const name = option.attributeName();
  const nowMs = io.clock();
  if (command.getOptionValueSource(name) === 'cli')
    return { texts: [command.getOptionValue(name)].flat().map(String), nowMs };
  const variable = option.envVar ?? '';
  const text = io.env[variable];
  return text ? { texts: [text], variable, nowMs } : { texts: [], nowMs };
};

/**
 * An option with its variable, such as ETL_KEEP_STAGING for `--keep-staging`. Commander does not
 * parse the values: it would read any value of a variable as true, and not name the variable in
 * errors.
 */
const optionOf = (flags: string, description: string): Option => {
  const option = new Option(flags, description);
  return option.env(`ETL_${(option.long ?? '').slice(2).replaceAll('-', '_').toUpperCase()}`);
};

const inputOf = <T>(option: Option, readFrom: (given: Given) => T): Input<T> => ({
  addTo: (command) => void command.addOption(option),
  read: (command, io) => readFrom(givenTexts(command, option, io)),
});

const parseText = <T>(text: string, parse: Parser<T>, option: Option, { variable, nowMs }: Given): T => {
  const parsed = parse(text, nowMs);
  if ('value' in parsed) return parsed.value;
  const { problem } = parsed;
  if (variable !== undefined) throw new EtlError('ETL_ENVIRONMENT', { variable, problem });
  throw new EtlError('ETL_USAGE', {
    problem: `${option.long}: ${problem}`,
    hint: `\`${option.flags}\`: ${option.description}.`,
  });
};

const parsedInput = <T>(option: Option, parse: Parser<T>): Input<T | undefined> =>
  inputOf(option, (given) => {
    const [text] = given.texts;
    return text === undefined ? undefined : parseText(text, parse, option, given);
  });

export const flag = <T>(flags: string, description: string, parse: Parser<T>): Input<T | undefined> =>
  parsedInput(optionOf(flags, description), parse);

export const textFlag = (flags: string, description: string): Input<string | undefined> =>
  flag(flags, description, parseString);

export const countFlag = (
  flags: string,
  description: string,
  max = Number.MAX_SAFE_INTEGER,
): Input<number | undefined> => flag(flags, description, parseCount(max));

export const namesFlag = (flags: string, description: string): Input<readonly string[] | undefined> =>
  flag(flags, description, parseNames);

export const choice = <T extends string>(
  flags: string,
  description: string,
  choices: readonly T[],
): Input<T | undefined> => {
  const option = optionOf(flags, description);
  // Not `.choices()`, with which commander would parse the value itself.
  option.argChoices = [...choices];
  return parsedInput(option, parseChoice(choices));
};

/** A flag without a value; false if absent. Its variable may also be `false` or `0`. */
export const toggle = (flags: string, description: string): Input<boolean> => {
  const { addTo, read } = flag(flags, description, parseBoolean);
  return { addTo, read: (command, io) => read(command, io) ?? false };
};

/** A flag that may be repeated. Its variable holds one value per line. */
export const repeatable = <T>(flags: string, description: string, parse: Parser<T>): Input<readonly T[]> => {
  const option = optionOf(flags, `${description}; may be repeated`);
  option.argParser<string[]>((text, before) => [...(Array.isArray(before) ? before : []), text]);
  return inputOf(option, (given) => {
    const { texts, variable } = given;
    const lines = variable === undefined ? texts : texts.flatMap((text) => text.split('\n')).filter(Boolean);
    return lines.map((line) => parseText(line, parse, option, given));
  });
};

const pairs = repeatable('--param <name=value>', 'value of a pipeline parameter', parsePair);

export const params: Input<Readonly<Record<string, string>>> = {
  addTo: pairs.addTo,
  read: (command, io) => Object.fromEntries(pairs.read(command, io)),
};

/** A flag with a file. Repeatable instead of a list, because file names may contain commas. */
export const filesFlag = (name: string, description: string): Input<readonly string[]> =>
  repeatable(`--${name} <file>`, description, parseString);

/** Declared for the help. main.ts reads the flag, even if the arguments cannot be parsed. */
export const debug = toggle('--debug', 'print stack traces and causes of errors');

export const printing = (description = 'print JSON') => ({ json: toggle('--json', description), debug });

export const databaseUrl = textFlag(
  '--database-url <url>',
  'server to use; default: DATABASE_URL, then PG*, then the embedded server',
);

export const redisPrefix = textFlag(
  '--redis-prefix <text>',
  'prefix of keys in Redis; default: derived from the database',
);

export const workers = countFlag(
  '--workers <n>',
  'number of parallel loads; default: the number of cores',
  workersMax,
);

export const chunkBytes = countFlag(
  '--chunk-bytes <n>',
  'source bytes per transaction; default: 33554432, at most 8 MiB for a stream with several workers',
  chunkBytesMax,
);

export const tracing = toggle('--tracing', 'create OpenTelemetry spans; NODE_OPTIONS must load an SDK');

export const allowShrink = namesFlag(
  '--allow-shrink <tables>',
  'publish these tables (comma-separated) even if their guard requires more rows',
);

const parseRunId = (text: string): number => {
  const parsed = parseCount(Number.MAX_SAFE_INTEGER)(text);
  if ('value' in parsed) return parsed.value;
  throw new EtlError('ETL_USAGE', {
    problem: `'${text}' is not the number of a run`,
    hint: '`etl status` lists the runs.',
  });
};

/** `readFrom` gets a text, a list or undefined, depending on how `argument` is declared. */
const positional = <T>(argument: Argument, readFrom: (value: never) => T): Input<T> => ({
  addTo: (command) => void command.addArgument(argument),
  read: (command) => {
    const index = command.registeredArguments.indexOf(argument);
    return readFrom(command.processedArgs[index] as never);
  },
});

export const argument = (name: string, description: string): Input<string> =>
  positional(new Argument(name, description), (text: string) => text);

export const argumentOf = <T extends string>(
  name: string,
  description: string,
  choices: readonly T[],
): Input<T> => positional(new Argument(name, description).choices(choices), (text: T) => text);

export const fileArguments = (description: string): Input<readonly string[]> =>
  positional(new Argument('<file...>', description), (files: readonly string[]) => files);

export const pipelineArgument = argument(
  '<pipeline>',
  `TypeScript or JavaScript file of a pipeline, or its name in ${defaultFolder}/`,
);

export const pipelineArguments = positional(
  new Argument(
    '[pipeline...]',
    `files of pipelines, or their names in ${defaultFolder}/; default: all of that folder`,
  ),
  (pipelines: readonly string[]) => pipelines,
);

export const runArgument = positional(new Argument('<run>', 'number of a run'), parseRunId);

export const optionalRun = positional(new Argument('[run]', 'number of a run'), (text: string | undefined) =>
  text === undefined ? undefined : parseRunId(text),
);
