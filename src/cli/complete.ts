// Answers `etl complete -- words…`, which the scripts of `etl completion` ask at every press of the tab key.

import { readdirSync } from 'node:fs';
import { join, parse, resolve } from 'node:path';
import { ShellCompDirective, type RootCommand } from '@bomb.sh/tab';
import tab from '@bomb.sh/tab/commander';
import { completionsMax } from '../core/limits.ts';
import { isPipelineFile } from '../pipeline/file-name.ts';
import { commands } from './commands/table.ts';
import type { Io } from './io.ts';
import { pipelinesFolder } from './pipeline.ts';
import { createProgram } from './program.ts';

const readFolder = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Half a path is typed: nothing to offer.
    return [];
  }
};

/**
 * Whether every shell reads a text as one word and nothing else. Not all scripts quote what they insert, so that the
 * file `a$(reboot).ts` would be run; a leading hyphen would make a flag of it, and a line break more offers. Our script for bash
 * puts a backslash before a blank.
 */
const isPlainWord = (text: string, takesBlanks: boolean): boolean =>
  /^[\p{L}\p{N}._/][\p{L}\p{N}\p{M}._/,:=@+-]*$/u.test(takesBlanks ? text.replaceAll(' ', '_') : text);

/** Folders and pipeline files that begin with what is typed: the library itself never offers files. */
const filesLike = (typed: string, workingDirectory: string, takesBlanks: boolean): string[] => {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  return readFolder(join(workingDirectory, folder))
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || isPipelineFile(entry.name))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .filter((path) => isPlainWord(path, takesBlanks))
    .slice(0, completionsMax);
};

/** Names of pipelines, which are offered where no path is typed. */
const namesLike = (typed: string, io: Io): string[] =>
  typed.includes('/')
    ? []
    : readFolder(resolve(io.workingDirectory, pipelinesFolder(io)))
        .filter((entry) => entry.isFile() && isPipelineFile(entry.name))
        .map(({ name }) => parse(name).name)
        .filter((name) => isPlainWord(name, false))
        .slice(0, completionsMax);

const ignore = (): void => {};

/** Tells the shell to put no blank after a folder: the library has one directive for everything, and sets it again. */
const continueFolders = (completion: RootCommand, typed: string): void => {
  const { ShellCompDirectiveNoFileComp: noFiles, ShellCompDirectiveNoSpace: noSpace } = ShellCompDirective;
  const get = (): number => {
    const offered = completion.completions.filter(({ value }) => value.startsWith(typed));
    const isFolder = offered.length > 0 && offered.every(({ value }) => value.endsWith('/'));
    return isFolder ? noFiles | noSpace : noFiles;
  };
  Object.defineProperty(completion, 'directive', { get, set: ignore });
};

/** Prints completions for the words after `--`. */
export const complete = (args: readonly string[], io: Io): void => {
  const words = args.slice(args.indexOf('--') + 1);
  // The library adds a `completion` command of its own, so ours is left out.
  const program = createProgram(
    commands.filter(({ name }) => name !== 'completion'),
    io,
  );
  const completion = tab(program, { completionCommandName: 'completion' });
  // Before the library takes words off the list.
  const typed = words.at(-1) ?? '';
  const takesBlanks = args[0] === 'blanks';
  const files = [...filesLike(typed, io.workingDirectory, takesBlanks), ...namesLike(typed, io)];
  for (const { arguments: named } of completion.commands.values()) {
    const file = named.get('pipeline');
    if (file) file.handler = (add) => files.forEach((path) => add(path, ''));
  }
  continueFolders(completion, typed);
  completion.parse(words);
};
