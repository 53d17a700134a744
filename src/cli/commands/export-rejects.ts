// `etl rejects export`: writes rejected records as CSV, to stdout or into a new file.

import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Client } from '../../db/client.ts';
import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import type { RecordShape } from '../../ledger/rejects/reject-records.ts';
import { formatCount, plural } from '../../core/wording.ts';
import { command, print, type Answer } from '../command.ts';
import { printing, standardOutput, textFlag, toggle } from '../inputs.ts';
import { written } from '../io.ts';
import { visibleText } from '../layout.ts';
import { askRejects, choosing, type Asked } from './ask-rejects.ts';

const usage = (problem: string, hint: string): EtlError => new EtlError('ETL_USAGE', { problem, hint });

interface Target {
  /** Waits until the text is written; false: the reader has closed the pipe. */
  readonly write: (text: string) => Promise<boolean>;
  readonly close: (isWhole: boolean) => Promise<void>;
}

/** Creates a file. Refuses an existing file, which may hold corrections. */
const openFile = async (path: string): Promise<Target> => {
  const file = await open(path, 'wx').catch((cause: unknown) => {
    throw codeOf(cause) === 'EEXIST'
      ? usage(`${path} already exists`, 'It may hold corrections: remove it, or name another file.')
      : usage(`${path} cannot be written: ${messageOf(cause)}`, 'Name another file.');
  });
  return {
    write: async (text) => {
      await file.appendFile(text);
      return true;
    },
    close: async (isWhole) => {
      await file.close();
      if (!isWhole) await rm(path);
    },
  };
};

interface Counts {
  readonly records: number;
  readonly corrected: number;
  readonly raw: number;
  /** Records of which only the beginning is stored, because they were too long. */
  readonly cut: number;
}

const notesOf = ({ raw, cut, corrected }: Counts): readonly string[] => [
  ...(corrected > 0
    ? [`${plural(corrected, 'record')} corrected since, left out; --corrected exports them, too`]
    : []),
  ...(raw > 0 ? [`${plural(raw, 'record')} without fields: see column _record`] : []),
  ...(cut > 0
    ? [`${formatCount(cut)} of them end with …: they were too long to store; correct them in their file`]
    : []),
];

/** Writes rejects page by page. Returns undefined if the reader has closed the pipe. */
const writeRejects = async (
  client: Client,
  wanted: {
    readonly runId: number;
    readonly shape: RecordShape;
    readonly file: string | undefined;
    readonly bom: boolean;
    readonly corrected: boolean;
  },
  target: Target,
): Promise<Counts | undefined> => {
  const { runId, shape, file, bom } = wanted;
  const { rejectPages } = await import('../../ledger/rejects/list-rejects.ts');
  const { exportLine, headOf, uncorrected } = await import('../../ledger/rejects/reject-export.ts');
  const counts = { records: 0, corrected: 0, raw: 0, cut: 0 };
  let isRead = await target.write(`${bom ? '\ufeff' : ''}${headOf(shape)}`);
  for await (const page of rejectPages(client, runId, { table: shape.table, file })) {
    if (!isRead) return undefined;
    const rejects = wanted.corrected ? page : uncorrected(page);
    const lines = rejects.map((reject) => exportLine(reject, shape));
    counts.records += lines.length;
    counts.corrected += page.length - rejects.length;
    counts.raw += lines.filter(({ raw }) => raw).length;
    counts.cut += lines.filter(({ cut }) => cut).length;
    isRead = await target.write(lines.map(({ line }) => line).join(''));
  }
  return counts;
};

const answerOf = (
  asked: Asked<{ readonly runId: number; readonly table: string; readonly counts: Counts | undefined }>,
  output: string | undefined,
): Answer | undefined => {
  if ('nothing' in asked) return { json: [{ total: 0, records: 0 }], lines: () => [asked.nothing] };
  const { runId, table, counts } = asked.found;
  if (counts === undefined) return undefined;
  const where = output === undefined ? '' : `, in ${visibleText(output)}`;
  const what = `${plural(counts.records, 'reject')} of table ${visibleText(table)}, run ${runId}${where}`;
  return { json: [{ runId, table, output, ...counts }], lines: () => [what, ...notesOf(counts)] };
};

export const exportCommand = command({
  name: 'export',
  description: 'Writes the rejected records of a table to a CSV, with the faults of each, for correction.',
  takes: {
    ...choosing,
    file: textFlag('--file <name>', 'only rejects of this file'),
    corrected: toggle('--corrected', 'also records that were corrected since'),
    output: textFlag('-o, --output <path>', 'file to write, which must not exist; default, and -: stdout'),
    bom: toggle('--bom', 'begin with a byte order mark, by which Excel recognizes UTF-8'),
    ...printing('with --output, print what was written as JSON'),
  },
  help: `
Default: the run with rejects that ended last, without records that were corrected since. The columns are _run, _table, _file,
_line, _byte, _reason and _record, and then those of the table's files. If a record cannot be split into fields, its fields
are empty and _record is its text.

Examples:
  $ etl rejects export --output rejects.csv
  $ etl rejects export 12 --table price --output prices.csv --bom
  $ etl rejects export 12 --table price --file data/2024.csv > prices.csv`,
  async act(given) {
    const { io } = given;
    const output = given.output === standardOutput ? undefined : given.output;
    if (given.json && output === undefined)
      throw usage('--json needs --output', 'Without --output the CSV itself is printed.');
    const { shapeOfRejects } = await import('../../ledger/rejects/reject-records.ts');
    const asked = await askRejects(given, async (client, { runId }) => {
      const shape = await shapeOfRejects(client, runId, { table: given.table ?? null, file: given.file });
      if (shape === undefined) return undefined;
      const target: Target =
        output === undefined
          ? { write: (text) => written(io.stdout, text), close: () => Promise.resolve() }
          : await openFile(resolve(io.workingDirectory, output));
      let counts: Counts | undefined;
      try {
        counts = await writeRejects(client, { runId, shape, ...given }, target);
      } finally {
        await target.close(counts !== undefined);
      }
      return { runId, table: shape.table, counts };
    });
    const answer = answerOf(asked, output);
    // Stdout contains only the CSV.
    if (answer) print(answer, given, output === undefined ? io.stderr : io.stdout);
  },
});
