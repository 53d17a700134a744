// Declares commands. A command is a file in commands/ and a line in commands/table.ts.

import type { Command } from 'commander';
import { visibleJson } from '../core/wording.ts';
import type { Input } from './inputs.ts';
import { widthOf, type Io } from './io.ts';
import { paintFor, type Paint } from './paint.ts';

/** Thrown to end the program with this exit code. The command has already printed everything. */
export class EndWith extends Error {
  readonly exit: number;

  constructor(exit: number) {
    super(`exit code ${exit}`);
    this.exit = exit;
  }
}

export interface Look {
  readonly paint: Paint;
  readonly width: number;
}

/** What a command prints: `lines`, or with --json the documents `json`. */
export interface Answer {
  readonly lines: (look: Look) => readonly string[];
  /** JSON documents. Each is printed on one line, unless `isIndented` is set. */
  readonly json: readonly unknown[];
  readonly isIndented?: boolean;
  readonly error?: Error | undefined;
}

interface Words {
  readonly name: string;
  /** Text in the program's list of commands. A group lists its commands by their descriptions. */
  readonly summary?: string;
  readonly description: string;
  readonly help?: string;
  /** The group runs this command when the user names no command. */
  readonly isDefault?: boolean;
}

type Inputs = Readonly<Record<string, Input<unknown>>>;
/** Parsed values of a command's arguments and flags. */
export type Given<I> = { readonly [K in keyof I]: I[K] extends Input<infer T> ? T : never } & {
  readonly io: Io;
};

interface Declaration<I extends Inputs> extends Words {
  readonly takes: I;
  /** Does the work. Imports heavy modules dynamically, so that `--help` stays fast. */
  readonly act: (given: Given<I>) => Promise<Answer | void>;
}

export interface CliCommand {
  readonly name: string;
  readonly register: (parent: Command, io: Io) => void;
}

/** Prints an answer as text, or as JSON if `json` is set, and then throws the answer's error. */
export const print = (
  answer: Answer,
  { io, json = false }: { readonly io: Io; readonly json?: boolean },
  output = io.stdout,
): void => {
  const lines = json
    ? answer.json.map((document) => visibleJson(document, undefined, answer.isIndented ? 2 : undefined))
    : answer.lines({ paint: paintFor(output, io.env), width: widthOf(output) });
  output.write(lines.map((line) => `${line}\n`).join(''));
  if (answer.error !== undefined) throw answer.error;
};

const addTo = (parent: Command, { name, summary = '', description, help, isDefault = false }: Words) => {
  const own = parent.command(name, { isDefault }).summary(summary).description(description);
  return help === undefined ? own : own.addHelpText('after', help);
};

export const command = <I extends Inputs>({ takes, act, ...words }: Declaration<I>): CliCommand => ({
  name: words.name,
  register: (parent, io) => {
    const own = addTo(parent, words);
    for (const input of Object.values(takes)) input.addTo(own);
    own.action(async () => {
      const values = Object.entries(takes).map(([name, input]) => [name, input.read(own, io)]);
      const given = { ...Object.fromEntries(values), io };
      const answer = await act(given);
      if (answer) print(answer, given);
    });
  },
});

export const group = (words: Words, commands: readonly CliCommand[]): CliCommand => ({
  name: words.name,
  register: (parent, io) => {
    const own = addTo(parent, words).usage('<command> [options]');
    for (const each of commands) each.register(own, io);
  },
});
