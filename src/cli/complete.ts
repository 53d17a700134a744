// Answers `etl complete -- words…`, which the scripts of `etl completion` ask at every press of the tab key.

import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import tab from '@bomb.sh/tab/commander';
import { completionsMax } from '../limits.ts';
import { commands } from './commands/table.ts';
import type { Io } from './io.ts';
import { createProgram } from './program.ts';

const pipelineFile = /\.(ts|mts|cts|js|mjs|cjs)$/;

const readFolder = (folder: string) => {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    // Half a path is typed: nothing to offer.
    return [];
  }
};

/** Folders and pipeline files that begin with what is typed: the library itself never offers files. */
const filesLike = (typed: string, workingDirectory: string): string[] => {
  const folder = typed.slice(0, typed.lastIndexOf('/') + 1);
  return readFolder(join(workingDirectory, folder))
    .filter((entry) => !entry.name.startsWith('.') && entry.name !== 'node_modules')
    .filter((entry) => entry.isDirectory() || pipelineFile.test(entry.name))
    .slice(0, completionsMax)
    .map((entry) => `${folder}${entry.name}${entry.isDirectory() ? '/' : ''}`);
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
  const file = completion.commands.get('run')?.arguments.get('pipeline-file');
  if (file)
    file.handler = (add) => {
      for (const path of filesLike(words.at(-1) ?? '', io.workingDirectory)) add(path, '');
    };
  completion.parse(words);
};
