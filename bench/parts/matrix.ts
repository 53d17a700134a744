// Type × spelling: what sluice's decoder takes for a field, beside csv-parse, which only splits, and beside the server's own input of
// the same values.

import { chmodSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench-context.ts';
import { pipelinePath } from '../etl.ts';
import { batchesOf, type FileKind } from '../generate.ts';
import { spellings, type Spelling } from '../matrix/spellings.ts';
import { runProgram, typescript } from '../measure.ts';
import { randomFrom } from '../random.ts';
import type { BenchServer } from '../server.ts';
import { resetScripts } from '../sides.ts';
import { scriptSchema } from '../sql.ts';

/** CPU nanoseconds are those of a field with its share of the record. */
export interface Decoded {
  readonly spelling: string;
  readonly records: number;
  /** Of the column, in SQL. */
  readonly type: string;
  readonly sluiceNs: number;
  readonly csvParseNs: number;
  /** How often the routine asks JavaScript. */
  readonly hostCallsPerField: number;
  /** How often it is called: once more for each record that it leaves. */
  readonly routineCallsPerRecord: number;
  /** Bytes that are copied from one array to another, for a byte of the file. */
  readonly copiedPerByte: number;
}

export interface ServerInput {
  /** COPY of the values as the server writes them in CSV, into columns of the type and into text columns; and in binary. */
  readonly csvNs: number;
  readonly textNs: number;
  readonly binaryNs: number;
}

export type Cell = Decoded & ServerInput;

const columns = ['a', 'b', 'c', 'd'];
const program = fileURLToPath(new URL('../programs/spelling.ts', import.meta.url));

const filesOf = ({ field }: Spelling, index: number): FileKind => ({
  nameEnd: `${index}spelling.csv`,
  headerLine: `${columns.join(',')}\n`,
  lines: (seed) => {
    const random = randomFrom(seed);
    return batchesOf(() => `${columns.map(() => field(random)).join(',')}\n`);
  },
});

interface DecodedFile extends Decoded {
  /** The rows as binary COPY. */
  readonly rowsFile: string;
}

/** Decodes the spellings whose names contain one of the texts, each in a process of its own. */
export const decodeSpellings = async (
  bench: Bench,
  wanted: readonly string[],
): Promise<readonly DecodedFile[]> => {
  const decoded: DecodedFile[] = [];
  for (const [index, spelling] of spellings.entries()) {
    const { name } = spelling;
    if (!wanted.some((text) => name.includes(text))) continue;
    const { directory, files } = await bench.dataset(bench.records, 1, filesOf(spelling, index));
    const rowsFile = join(directory, 'rows');
    const args = [
      ...typescript,
      program,
      pipelinePath('spelling.ts'),
      name,
      files[0]!.path,
      String(bench.rounds),
      rowsFile,
    ];
    const lines = await runProgram(process.execPath, args);
    const told = JSON.parse(lines.at(-1)!) as Omit<DecodedFile, 'spelling' | 'rowsFile'>;
    decoded.push({ spelling: name, ...told, rowsFile });
    process.stderr.write(`  ${name}: ${told.sluiceNs.toFixed(0)} ns\n`);
  }
  return decoded;
};

const createTable = (name: string, type: string): string =>
  `create unlogged table ${scriptSchema}.${name} (${columns.map((column) => `${column} ${type}`).join(', ')})`;

/** Nanoseconds that a process was on a processor so far. */
const onProcessor = (pid: number): number =>
  Number(readFileSync(`/proc/${pid}/schedstat`, 'latin1').split(' ')[0]);

/** CPU of the server alone: it reads files of its own, and stores no row. */
const serverInput = async (
  { query }: BenchServer,
  { type, records, rowsFile }: DecodedFile,
  rounds: number,
): Promise<ServerInput> => {
  const csvFile = `${rowsFile}.csv`;
  // The server writes it, and runs as somebody else when we are root.
  chmodSync(dirname(csvFile), 0o777);
  await query(`${resetScripts}; ${createTable('typed', type)}; ${createTable('plain', 'text')}`);
  await query(`copy ${scriptSchema}.typed from '${rowsFile}' (format binary)`);
  await query(`copy ${scriptSchema}.typed to '${csvFile}' (format csv)`);
  const [{ pid } = {}] = await query('select pg_backend_pid() as pid');
  const nsOf = async (table: string, file: string, format: string): Promise<number> => {
    const before = onProcessor(Number(pid));
    await query(`copy ${scriptSchema}.${table} from '${file}' (format ${format}) where false`);
    return (onProcessor(Number(pid)) - before) / records / columns.length;
  };
  const taken: { csvNs: number[]; textNs: number[]; binaryNs: number[] } = {
    csvNs: [],
    textNs: [],
    binaryNs: [],
  };
  for (let round = 0; round <= rounds; round += 1) {
    taken.csvNs.push(await nsOf('typed', csvFile, 'csv'));
    taken.textNs.push(await nsOf('plain', csvFile, 'csv'));
    taken.binaryNs.push(await nsOf('typed', rowsFile, 'binary'));
  }
  const least = (values: readonly number[]): number => Math.min(...values);
  return { csvNs: least(taken.csvNs), textNs: least(taken.textNs), binaryNs: least(taken.binaryNs) };
};

/** Decodes them, and has the server read the same values. */
export const measureMatrix = async (bench: Bench, wanted: readonly string[]): Promise<readonly Cell[]> => {
  const { rounds, server } = bench;
  const cells: Cell[] = [];
  for (const decoded of await decodeSpellings(bench, wanted))
    cells.push({ ...decoded, ...(await serverInput(server, decoded, rounds)) });
  await server.query(resetScripts);
  return cells;
};
