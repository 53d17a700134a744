// `etl rejects export`: rejected records as CSV, to stdout or into a new file.

import { open, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { Client } from '../../db/client.ts';
import { codeOf, EtlError, messageOf } from '../../core/errors/errors.ts';
import type { RejectedRun } from '../../ledger/rejects/list-rejects.ts';
import type { Exported } from '../../ledger/rejects/reject-export.ts';
import { formatCount, plural, visibleJson } from '../../core/wording.ts';
import { parseString, readFlag, readSwitch, standardOutput } from '../flags.ts';
import { written, type Io } from '../io.ts';
import { visibleText } from '../layout.ts';
import { askRejects, readChoice } from './ask.ts';

export const exportExamples = `
Default: the run with rejects that ended last, without records that were corrected since. The columns of the table's files come after _run, _table, _file, _line, _byte,
_reason and _record. Where the fields of a record cannot be told apart, they are empty and _record is its text.

Examples:
  $ etl rejects export --output rejects.csv
  $ etl rejects export 12 --table price --output prices.csv --bom
  $ etl rejects export 12 --table price --file data/2024.csv > prices.csv`;

const usage = (problem: string, hint: string): EtlError => new EtlError('ETL_USAGE', { problem, hint });

/** Where the CSV goes: takes texts as fast as it can write them; false when nobody reads it any more. */
interface Target {
  readonly write: (text: string) => Promise<boolean>;
  /** What is written stays, or nothing does. */
  readonly close: (isWhole: boolean) => Promise<void>;
}

/** A new file: it may hold corrections already. Errors: ETL_USAGE. */
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

/** The notes of a person who is about to correct the file. */
const notesOf = ({ raw, cut, corrected }: Exported): readonly string[] => [
  ...(corrected > 0
    ? [`${formatCount(corrected)} corrected since, left out: --corrected exports them, too`]
    : []),
  ...(raw > 0 ? [`${plural(raw, 'record')} without fields: see column _record`] : []),
  ...(cut > 0
    ? [`${formatCount(cut)} of them were longer than is kept, and end with …: correct them in their file`]
    : []),
];

/** Prints rejects of a run as CSV, page by page. Errors: ETL_USAGE. */
export const exportRejects = async (run: string | undefined, command: Command, io: Io): Promise<void> => {
  const json = readSwitch(command, 'json', io);
  const choice = readChoice(run, command, io);
  const named = readFlag(command, 'output', parseString, io);
  const output = named === standardOutput ? undefined : named;
  const file = readFlag(command, 'file', parseString, io);
  const bom = readSwitch(command, 'bom', io);
  const withCorrected = readSwitch(command, 'corrected', io);
  if (json && output === undefined)
    throw usage('--json needs --output', 'Without --output the CSV itself is printed.');
  const { rejectPages } = await import('../../ledger/rejects/list-rejects.ts');
  const { shapeOfRejects } = await import('../../ledger/rejects/reject-records.ts');
  const { exportLine, headOf, uncorrected } = await import('../../ledger/rejects/reject-export.ts');
  const none = json ? { total: 0, records: 0 } : undefined;
  // Where the CSV goes to standard output, nothing else does.
  const notesTo = output === undefined ? io.stderr : io.stdout;

  const write = async (client: Client, { runId }: RejectedRun): Promise<void> => {
    const wanted = { table: choice.table, file };
    const shape = await shapeOfRejects(client, runId, wanted);
    if (shape === undefined) {
      if (json) io.stdout.write(`${visibleJson(none)}\n`);
      else notesTo.write('no rejects\n');
      return;
    }
    const target: Target =
      output === undefined
        ? { write: (text) => written(io.stdout, text), close: () => Promise.resolve() }
        : await openFile(resolve(io.workingDirectory, output));
    const counts = { records: 0, corrected: 0, raw: 0, cut: 0 };
    let isWhole = false;
    try {
      let goesOn = await target.write(`${bom ? '\ufeff' : ''}${headOf(shape)}`);
      for await (const page of rejectPages(client, runId, { ...wanted, table: shape.table })) {
        if (!goesOn) return;
        const rejects = withCorrected ? page : uncorrected(page);
        counts.corrected += page.length - rejects.length;
        const lines = rejects.map((reject) => exportLine(reject, shape));
        for (const { raw, cut } of lines) {
          counts.records += 1;
          counts.raw += Number(raw);
          counts.cut += Number(cut);
        }
        goesOn = await target.write(lines.map(({ line }) => line).join(''));
      }
      isWhole = true;
    } finally {
      await target.close(isWhole);
    }
    const { table } = shape;
    if (json) io.stdout.write(`${visibleJson({ runId, table, output, ...counts })}\n`);
    else {
      const what = `${plural(counts.records, 'reject')} of table ${visibleText(table)}, run ${runId}`;
      const where = output === undefined ? '' : `, in ${visibleText(output)}`;
      const notes = [`${what}${where}`, ...notesOf(counts)].map((note) => `${note}\n`).join('');
      notesTo.write(notes);
    }
  };
  await askRejects(command, io, choice, write, none, notesTo);
};
