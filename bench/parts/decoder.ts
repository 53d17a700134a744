// The compiled decoder alone: CPU for 44 columns in and 20 typed, checked and encoded ones out, against csv-parse making
// arrays of texts of the same bytes; and what it takes `etl init` to infer all 44 from them.

import { fileURLToPath } from 'node:url';
import type { Bench } from '../bench-context.ts';
import { compare, type PartReport, type Side } from '../compare.ts';
import type { GeneratedFile } from '../generate.ts';
import { measured, runProgram, typescript, type Usage } from '../measure.ts';

export const decoderSides = {
  csvParse: 'csv-parse to arrays',
  compiled: 'compiled decoder',
  init: 'etl init',
} as const;

const program = fileURLToPath(new URL('../programs/decode.ts', import.meta.url));

interface Decoded {
  readonly rows: number;
  readonly seconds: number;
  readonly cpuSeconds: number;
}

/** Start-up is not the decoder's: the program itself says what decoding took. */
const decode = async (bench: Bench, decoder: string, file: GeneratedFile): Promise<Usage> => {
  let lines: readonly string[] = [];
  const { megabytes } = await measured(bench.server.pid, async () => {
    lines = await runProgram(process.execPath, [...typescript, program, decoder, file.path]);
  });
  const { rows, seconds, cpuSeconds } = JSON.parse(lines.at(-1)!) as Decoded;
  if (rows !== file.records) throw new Error(`${decoder} gave ${rows} rows of ${file.records} records`);
  return { seconds, clientSeconds: cpuSeconds, serverSeconds: 0, megabytes };
};

export const measureDecoder = async (bench: Bench): Promise<PartReport> => {
  const { files } = await bench.dataset(bench.records, 2);
  const file = files[0]!;
  const side = (name: string, decoder: string): Side => ({
    name,
    records: file.records,
    run: () => decode(bench, decoder, file),
    results: {},
    reset: '',
  });
  return {
    part: 'decoder',
    title: 'Decoder alone, no server',
    sides: await compare(
      bench.server,
      [
        side(decoderSides.csvParse, 'csv-parse'),
        side(decoderSides.compiled, 'compiled'),
        side(decoderSides.init, 'init'),
      ],
      bench.rounds,
    ),
  };
};
