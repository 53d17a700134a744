// Flags that also are ETL_* variables: declares them for commander, and reads them with the right error.

import { Command, Option } from 'commander';
import { EtlError } from '../core/errors/errors.ts';
import type { Io } from './io.ts';

/** The value, or what is wrong with the text. */
export type Parsed<T> = { readonly value: T } | { readonly problem: string };
export type Parser<T> = (text: string) => Parsed<T>;

/**
 * A flag and its variable: `--keep-staging` is ETL_KEEP_STAGING.
 *
 * Commander takes any value of a variable for true and cannot say where a bad value came from, so flags hold their
 * text until `readFlag` looks at them.
 */
export const flag = (flags: string, description: string, choices?: readonly string[]): Option => {
  const option = new Option(flags, description);
  // Not `.choices()`, which would parse at once.
  if (choices) option.argChoices = [...choices];
  return option.env(`ETL_${(option.long ?? '').slice(2).replaceAll('-', '_').toUpperCase()}`);
};

/** The name of a file to write that means standard output, as for most programs. */
export const standardOutput = '-';

/** Lets a flag be given more than once. */
const repeatable = (option: Option): Option =>
  option.argParser<string[]>((text, before) => [...(Array.isArray(before) ? before : []), text]);

/** `--param`, as every command has it that names a pipeline with its parameters. */
export const paramFlag = (): Option =>
  repeatable(flag('--param <name=value>', 'value of a pipeline parameter; may be repeated'));

/** `--allow-shrink`, as every command has it that asks for a run. */
export const allowShrinkFlag = (): Option =>
  flag(
    '--allow-shrink <tables>',
    'publish these tables (comma-separated) even if their guard requires more rows',
  );

/** A flag that names a file, any number of times: names may hold anything. */
export const filesFlag = (name: string, description: string): Option =>
  repeatable(flag(`--${name} <file>`, `${description}; may be repeated`));

const optionOf = (command: Command, name: string): Option => {
  const option = command.options.find((candidate) => candidate.attributeName() === name);
  if (!option) throw new Error(`the command ${command.name()} has no flag ${name}`);
  return option;
};

/** Texts given on the command line, or else the text of the variable; an empty variable is an unset one. */
const rawTexts = (command: Command, option: Option, io: Io): { texts: string[]; variable?: string } => {
  if (command.getOptionValueSource(option.attributeName()) === 'cli')
    return { texts: [command.getOptionValue(option.attributeName())].flat().map(String) };
  const variable = option.envVar ?? '';
  const text = io.env[variable];
  return text ? { texts: [text], variable } : { texts: [] };
};

const parseText = <T>(text: string, parse: Parser<T>, option: Option, variable: string | undefined): T => {
  const parsed = parse(text);
  if ('value' in parsed) return parsed.value;
  const { problem } = parsed;
  if (variable !== undefined) throw new EtlError('ETL_ENVIRONMENT', { variable, problem });
  throw new EtlError('ETL_USAGE', {
    problem: `${option.long}: ${problem}`,
    hint: `\`${option.flags}\`: ${option.description}.`,
  });
};

/** The flag's value, else its variable's. Errors: ETL_USAGE, ETL_ENVIRONMENT. */
export const readFlag = <T>(command: Command, name: string, parse: Parser<T>, io: Io): T | undefined => {
  const option = optionOf(command, name);
  const { texts, variable } = rawTexts(command, option, io);
  return texts[0] === undefined ? undefined : parseText(texts[0], parse, option, variable);
};

/** A switch: off unless given; its variable may also say `false` or `0`. */
export const readSwitch = (command: Command, name: string, io: Io): boolean =>
  readFlag(command, name, parseBoolean, io) ?? false;

/** Texts of a flag that may be repeated; a variable holds one a line. */
export const readTexts = (command: Command, name: string, io: Io): readonly string[] => {
  const { texts, variable } = rawTexts(command, optionOf(command, name), io);
  return variable === undefined ? texts : texts.flatMap((text) => text.split('\n')).filter(Boolean);
};

/** `--param name=value`, any number of times; a variable holds one a line. Errors: ETL_USAGE, ETL_ENVIRONMENT. */
export const readPairs = (command: Command, name: string, io: Io): Record<string, string> => {
  const option = optionOf(command, name);
  const { variable } = rawTexts(command, option, io);
  const lines = readTexts(command, name, io);
  return Object.fromEntries(lines.map((line) => parseText(line, parsePair, option, variable)));
};

const parsePair: Parser<readonly [string, string]> = (text) => {
  const place = text.indexOf('=');
  if (place < 1) return { problem: `'${text}' is not of the form name=value` };
  return { value: [text.slice(0, place).trim(), text.slice(place + 1)] };
};

const booleans: Readonly<Record<string, boolean>> = {
  1: true,
  true: true,
  yes: true,
  on: true,
  0: false,
  false: false,
  no: false,
  off: false,
};

export const parseBoolean: Parser<boolean> = (text) => {
  const value = booleans[text.toLowerCase()];
  return value === undefined ? { problem: `'${text}' is neither true nor false` } : { value };
};

/** A whole number from 1 to `max`. */
export const parseCount =
  (max: number): Parser<number> =>
  (text) => {
    const value = /^\d{1,15}$/.test(text) ? Number(text) : 0;
    if (value >= 1 && value <= max) return { value };
    return { problem: `'${text}' is not a whole number from 1 to ${max}` };
  };

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };

/** A time such as 30s, 5m or 1h, in milliseconds; a bare number counts seconds. */
export const parseDuration: Parser<number> = (text) => {
  const [, digits = '', unit = 's'] = /^(\d{1,9})(ms|s|m|h)?$/.exec(text) ?? [];
  if (digits === '') return { problem: `'${text}' is not a time such as 30s, 5m or 1h` };
  return { value: Number(digits) * unitMs[unit]! };
};

export const dayMs = 86_400_000;

const ageMs: Readonly<Record<string, number>> = { h: 3_600_000, d: dayMs, w: 7 * dayMs };

/** An age such as 12h, 90d or 8w, in milliseconds. */
export const parseAge: Parser<number> = (text) => {
  const [, count, unit = ''] = /^(\d{1,5})([hdw])$/.exec(text) ?? [];
  if (count !== undefined) return { value: Number(count) * ageMs[unit]! };
  return { problem: `'${text}' is not an age such as 12h, 90d or 8w` };
};

export const parseChoice =
  <T extends string>(choices: readonly T[]): Parser<T> =>
  (text) => {
    const value = choices.find((choice) => choice === text);
    return value === undefined ? { problem: `'${text}' is not one of ${choices.join(', ')}` } : { value };
  };

/** Names joined by commas. */
export const parseNames: Parser<readonly string[]> = (text) => {
  const names = text.split(',').map((name) => name.trim());
  return names.includes('') ? { problem: `'${text}' contains an empty name` } : { value: names };
};

export const parseString: Parser<string> = (text) => ({ value: text });

/** A run's number, as an argument of a command. Errors: ETL_USAGE. */
export const parseRunId = (text: string | undefined): number | undefined => {
  if (text === undefined) return undefined;
  const parsed = parseCount(Number.MAX_SAFE_INTEGER)(text);
  if ('value' in parsed) return parsed.value;
  throw new EtlError('ETL_USAGE', {
    problem: `'${text}' is not the number of a run`,
    hint: '`etl status` lists the runs.',
  });
};

/** A moment, or an age: how long ago. */
export const parseSince =
  (now: number): Parser<Date> =>
  (text) => {
    const age = parseAge(text);
    if ('value' in age) return { value: new Date(now - age.value) };
    const moment = parseMoment(text);
    return 'value' in moment
      ? moment
      : { problem: `'${text}' is neither an age such as 12h, 7d or 8w, nor a time in ISO 8601` };
  };

/** A moment as ISO 8601 writes it. */
export const parseMoment: Parser<Date> = (text) => {
  const value = /^\d{4}-\d\d-\d\d/.test(text) ? new Date(text) : new Date(Number.NaN);
  if (!Number.isNaN(value.getTime())) return { value };
  return { problem: `'${text}' is not a time such as 2026-05-01T03:00:00Z` };
};
