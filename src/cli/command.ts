// How a command is declared: one file in commands/, one line in commands/table.ts.

import type { Command } from 'commander';
import { visibleJson } from '../core/wording.ts';
import type { Input } from './inputs.ts';
import { widthOf, type Io } from './io.ts';
import { paintFor, type Paint } from './paint.ts';

/** Thrown by a command that has said everything, to end the program with this exit code. */
export class EndWith extends Error {
  readonly exit: number;

  constructor(exit: number) {
    super(`exit code ${exit}`);
    this.exit = exit;
  }
}

/** How lines are drawn: `width` in cells. */
export interface Look {
  readonly paint: Paint;
  readonly width: number;
}

/** What a command prints on stdout: lines of text, or documents with --json. */
export interface Answer {
  readonly lines: (look: Look) => readonly string[];
  /** Each is printed on one line. */
  readonly json: readonly unknown[];
  /** The documents are indented instead, for people who read them. */
  readonly isIndented?: boolean;
  /** Thrown after the answer is printed. */
  readonly error?: Error | undefined;
}

interface Words {
  readonly name: string;
  /** For the list of commands. Commands of a group are listed with their description. */
  readonly summary?: string;
  readonly description: string;
  /** Printed after the flags: what else to know, and examples. */
  readonly help?: string;
  /** The command that its group runs when none is named. */
  readonly isDefault?: boolean;
}

type Inputs = Readonly<Record<string, Input<unknown>>>;
/** Values of what a command takes. */
export type Given<I> = { readonly [K in keyof I]: I[K] extends Input<infer T> ? T : never } & {
  readonly io: Io;
};

interface Declaration<I extends Inputs> extends Words {
  /** Arguments and flags, in the order in which the help lists them. */
  readonly takes: I;
  /** Does the work with the values of `takes`. What is heavy is imported here, so that `--help` stays fast. */
  readonly act: (given: Given<I>) => Promise<Answer | void>;
}

export interface CliCommand {
  readonly name: string;
  /** Adds the command to the program or to a group. */
  readonly register: (parent: Command, io: Io) => void;
}

/** Prints what a command answers: text, unless JSON was asked for. */
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

/** Declares a command. All that it takes is read, and refused if it is wrong, before `act` is called. */
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

/** Declares a command that only has commands below it. */
export const group = (words: Words, commands: readonly CliCommand[]): CliCommand => ({
  name: words.name,
  register: (parent, io) => {
    const own = addTo(parent, words).usage('<command> [options]');
    for (const each of commands) each.register(own, io);
  },
});
