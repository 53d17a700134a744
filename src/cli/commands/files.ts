// `etl files`, `etl reload` and `etl unload`: files with their states, and runs for single files.

import { formatCount } from '../../core/wording.ts';
import { command } from '../command.ts';
import { databaseUrl, fileArguments, printing, params, pipelineArgument } from '../inputs.ts';
import { openPipeline } from '../pipeline.ts';
import { askAnyway } from '../server.ts';
import { formatDate } from '../../core/amounts.ts';
import { alignTitled, visibleText, type Alignment } from '../layout.ts';
import type { Paint } from '../paint.ts';
import type { FileState } from '../../core/file-state.ts';
import { runFile, runFlags } from './run.ts';

const titles = ['table', 'file', 'state', 'run', 'rows', 'loaded'];
const alignments: readonly Alignment[] = ['left', 'left', 'left', 'right', 'right', 'left'];

const fileLines = (files: readonly FileState[], paint: Paint): readonly string[] => {
  const rows = files.map(({ table, file, state, run, rows: count, publishedAt }) => [
    visibleText(table),
    visibleText(file),
    state,
    run === null ? '' : String(run),
    count === null ? '' : formatCount(count),
    publishedAt === null ? '' : formatDate(publishedAt),
  ]);
  const problems = files.flatMap(({ problem, state }) =>
    problem === null
      ? []
      : [visibleText(`a run would ${state === 'held back' ? 'hold back' : 'refuse'} ${problem}`)],
  );
  return [
    ...alignTitled(titles, rows, alignments, paint),
    ...(problems.length === 0 ? [] : ['', ...problems]),
  ];
};

export const filesCommand = command({
  name: 'files',
  summary: 'list the files of a pipeline, and which are in production',
  description: 'Lists the files of a pipeline with the state of each, and files in production that are gone.',
  takes: { file: pipelineArgument, databaseUrl, params, ...printing() },
  help: `
States:
  in production  loaded and published
  moved          in production under another name
  new            not loaded yet
  copy           not loaded yet; a run would refuse the file as a copy of another file
  changed        changed since it was loaded
  corrected      has rejected records that were corrected since it was loaded
  held back      not loaded: not ready, damaged or changed; runs load the other files, and this one when it is repaired
  unloaded       removed from production by \`etl unload\`
  gone           in production, but no longer a file of the pipeline

Examples:
  $ etl files pipelines/sales.ts
  $ etl files pipelines/sales.ts --json | jq '.[] | select(.state == "changed")'`,
  async act(given) {
    const { pipeline, options } = await openPipeline(given);
    const { filesOf } = await import('../../tools/file-states.ts');
    const files = await askAnyway(given, (client) => filesOf(pipeline, options, client));
    return { json: [files], isIndented: true, lines: ({ paint }) => fileLines(files, paint) };
  },
});

const files = fileArguments('files in production: names as `etl files` prints them, or locations');

export const reloadCommand = command({
  name: 'reload',
  summary: 'load files again that are in production',
  description: 'Replaces the rows of single files with their current content, in one step.',
  takes: { file: pipelineArgument, files, ...runFlags },
  help: `
An appended table must store the file of each row: changed: 'reload' or gone: 'unload'. Replaced ones need only: 'touched'.
Also loads new files, as every run does, and tries a file at once that is held back.

Examples:
  $ etl reload pipelines/sales.ts in/2024-05-01.csv`,
  act: (given) => runFile(given, { reload: given.files }),
});

export const unloadCommand = command({
  name: 'unload',
  summary: 'delete the rows of files from production',
  description: 'Deletes the rows of single files from production, in one step.',
  takes: { file: pipelineArgument, files, ...runFlags },
  help: `
As for \`etl reload\`, the table must store the file of each row; a merged table never does.
Later runs do not load the file until its content changes or you run \`etl reload\`.

Examples:
  $ etl unload pipelines/sales.ts in/2024-05-01.csv`,
  act: (given) => runFile(given, { unload: given.files }),
});
