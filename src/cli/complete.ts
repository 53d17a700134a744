// `etl complete -- words…`: prints completions. Scripts of `etl completion` run it for every tab.

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
    // The typed folder cannot be read, so there is nothing to offer.
    return [];
  }
};

/**
 * True if every shell reads the text as one plain word. Some completion scripts insert names
 * unquoted, so that a file name such as `a$(reboot).ts` would run a command. Blanks are allowed if
 * the script escapes them, as our bash script does.
 */
const isPlainWord = (text: string, takesBlanks: boolean): boolean =>
  /^[\p{L}\p{N}._/][\p{L}\p{N}\p{M}._/,:=@+-]*$/u.test(takesBlanks ? text.replaceAll(' ', '_') : text);

/** Folders and pipeline files, which the completion library does not offer. */
const filesLike = (typed: string, workingDirectory: string, takesBlanks: boolean): string[] => {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  return readFolder(join(workingDirectory, folder))
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || isPipelineFile(entry.name))
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`)
    .filter((path) => isPlainWord(path, takesBlanks))
    .slice(0, completionsMax);
};

const namesLike = (typed: string, io: Io): string[] =>
  typed.includes('/')
    ? []
    : readFolder(resolve(io.workingDirectory, pipelinesFolder(io)))
        .filter((entry) => entry.isFile() && isPipelineFile(entry.name))
        .map(({ name }) => parse(name).name)
        .filter((name) => isPlainWord(name, false))
        .slice(0, completionsMax);

const ignore = (): void => {};

/**
 * Tells the shell to add no blank after a folder. The property has a getter, because the library
 * assigns its own value while it parses.
 */
const continueFolders = (completion: RootCommand, typed: string): void => {
  const { ShellCompDirectiveNoFileComp: noFiles, ShellCompDirectiveNoSpace: noSpace } = ShellCompDirective;
  const get = (): number => {
    const offered = completion.completions.filter(({ value }) => value.startsWith(typed));
    const isFolder = offered.length > 0 && offered.every(({ value }) => value.endsWith('/'));
    return isFolder ? noFiles | noSpace : noFiles;
  };
  Object.defineProperty(completion, 'directive', { get, set: ignore });
};

export const complete = (args: readonly string[], io: Io): void => {
  const words = args.slice(args.indexOf('--') + 1);
  // Without our `completion` command, because the library adds its own.
  const program = createProgram(
    commands.filter(({ name }) => name !== 'completion'),
    io,
  );
  const completion = tab(program, { completionCommandName: 'completion' });
  // Read now, because the library removes words from the list.
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
