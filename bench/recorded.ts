// Figures that hardly depend on the machine, in bench/recorded.json, and whether those measured now are worse.

import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { PartReport } from './compare.ts';
import type { ChunkCost } from './parts/chunks.ts';
import type { Decoded, ServerInput } from './parts/matrix.ts';
import type { TableRatios } from './parts/table.ts';

/**
 * How far above its record a figure may be, as what that is multiplied by and what is added: on a machine that does nothing else,
 * and on any machine.
 */
const margins = {
  /** Whole programs, seconds ÷ seconds. */
  job: { still: [1.15, 0.02], any: [2, 0.2] },
  /** CPU ÷ CPU of a decoder alone. */
  cpu: { still: [1.3, 0.03], any: [2.5, 0.15] },
  /** A share of the fields or records: it depends on the data alone. */
  share: { still: [1, 0.01], any: [1, 0.01] },
  /** Bytes, of which a few depend on the size of the file. */
  bytes: { still: [1.1, 0.5], any: [1.25, 1] },
  /** Whole numbers, and what a run does by the clock. */
  trips: { still: [1, 0.8], any: [1, 0.8] },
} as const;

type Place = keyof (typeof margins)['job'];

export interface Figure {
  readonly name: string;
  readonly kind: keyof typeof margins;
  readonly value: number;
}

/** A figure beside its record; `limit` is undefined when there is none. */
export interface Compared extends Figure {
  readonly recorded: number | undefined;
  readonly limit: number | undefined;
}

const path = fileURLToPath(new URL('recorded.json', import.meta.url));

type Recorded = Readonly<Record<string, number>>;

const readRecorded = (): Recorded => JSON.parse(readFileSync(path, 'utf8')) as Recorded;

export const tableFigures = (tables: readonly TableRatios[]): readonly Figure[] =>
  tables.flatMap(({ table, load, staged, direct, cpu }) => [
    { name: `${table}: load ÷ psql`, kind: 'job', value: load },
    { name: `${table}: staged ÷ psql`, kind: 'job', value: staged },
    { name: `${table}: direct ÷ psql`, kind: 'job', value: direct },
    { name: `${table}: CPU, staged ÷ psql`, kind: 'job', value: cpu },
  ]);

export const decodedFigures = (cells: readonly (Decoded & Partial<ServerInput>)[]): readonly Figure[] =>
  cells.flatMap((cell) => {
    const { spelling, sluiceNs, csvParseNs, csvNs, hostCallsPerField, routineCallsPerRecord, copiedPerByte } =
      cell;
    return [
      { name: `${spelling}: CPU ÷ csv-parse`, kind: 'cpu', value: sluiceNs / csvParseNs },
      ...(csvNs === undefined
        ? []
        : ([{ name: `${spelling}: CPU ÷ COPY csv`, kind: 'cpu', value: sluiceNs / csvNs }] as const)),
      { name: `${spelling}: asked`, kind: 'share', value: hostCallsPerField },
      { name: `${spelling}: stopped`, kind: 'share', value: routineCallsPerRecord },
      { name: `${spelling}: bytes copied a byte`, kind: 'bytes', value: copiedPerByte },
    ] as const;
  });

export const chunkFigures = ({ roundTrips, sentPerByte }: ChunkCost): readonly Figure[] => [
  { name: 'chunk: round trips', kind: 'trips', value: roundTrips },
  { name: 'orders: bytes sent a byte', kind: 'bytes', value: sentPerByte },
];

/** CPU of each side of the part ÷ that of the first one, which is the plain file. */
export const compressedFigures = ({ sides }: PartReport): readonly Figure[] => {
  const [plain, ...others] = sides.map(({ name, median: { clientSeconds, serverSeconds } }) => ({
    name,
    seconds: clientSeconds + serverSeconds,
  }));
  return others.map(({ name, seconds }) => ({
    name: `${name}: CPU of the load ÷ plain`,
    kind: 'job',
    value: seconds / plain!.seconds,
  }));
};

/** The figures that are worse than recorded by more than noise, and those that nobody has recorded. */
export const worseThanRecorded = (figures: readonly Figure[], place: Place): readonly Compared[] => {
  const recorded = readRecorded();
  return figures
    .map((figure) => {
      const [times, plus] = margins[figure.kind][place];
      const record = recorded[figure.name];
      const limit = record === undefined ? undefined : record * times + plus;
      return { ...figure, recorded: record, limit };
    })
    .filter(({ value, limit }) => limit === undefined || value > limit);
};

/** Records these figures; those of others stay. */
export const record = (figures: readonly Figure[]): void => {
  const rounded = figures.map(({ name, value }) => [name, Number(value.toFixed(3))] as const);
  const all = { ...readRecorded(), ...Object.fromEntries(rounded) };
  writeFileSync(path, `${JSON.stringify(all, null, 2)}\n`);
};
