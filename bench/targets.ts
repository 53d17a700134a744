// What sluice is to reach, as ratios within one run, and whether it did.

import type { BenchOptions } from './bench-context.ts';
import type { PartReport, SideReport } from './compare.ts';
import type { Usage } from './measure.ts';
import { fileSide, httpSide } from './parts/http.ts';
import { compressedSide, compressionNames, plainSide } from './parts/compressed.ts';
import { encodedSide } from './parts/encoded.ts';
import { decoderSides } from './parts/decoder.ts';
import { distanceSides } from './parts/distance.ts';
import { byMonthSides } from './parts/by-month.ts';
import { monthsSides } from './parts/months.ts';
import { mergeParts, mergeSides } from './parts/merge.ts';
import { nightlySides } from './parts/nightly.ts';
import { objectsSides } from './parts/objects.ts';
import { textRowsSides } from './parts/text-rows.ts';
import { scalingSide, twoWorkers } from './parts/scaling.ts';
import { startUpSides } from './parts/start-up.ts';
import { verbatimSides } from './parts/verbatim.ts';

export interface TargetReport {
  readonly name: string;
  readonly limit: number;
  /** Undefined when its part did not run. */
  readonly measured: number | undefined;
  readonly outcome: 'reached' | 'missed' | 'not measured';
}

type Measure = 'seconds' | 'clientSeconds';

const findSides = (reports: readonly PartReport[], part: string): readonly SideReport[] =>
  reports.find((report) => report.part === part)?.sides ?? [];

const findUsages = (reports: readonly PartReport[], part: string): ReadonlyMap<string, Usage> =>
  new Map(findSides(reports, part).map(({ name, median }) => [name, median]));

/** Median of one side ÷ the smallest median of others. */
const ratio = (
  usages: ReadonlyMap<string, Usage>,
  ours: string,
  theirs: readonly string[],
  measure: Measure = 'seconds',
): number | undefined => {
  const others = theirs.flatMap((name) => usages.get(name)?.[measure] ?? []);
  const own = usages.get(ours)?.[measure];
  return own === undefined || others.length === 0 ? undefined : own / Math.min(...others);
};

/** Seconds a record of one side. */
const perRecord = (sides: readonly SideReport[], wanted: string): number | undefined => {
  const side = sides.find(({ name }) => name === wanted);
  return side?.records === undefined ? undefined : side.median.seconds / side.records;
};

/** CPU seconds a record of one side. */
const cpuPerRecord = (sides: readonly SideReport[], wanted: string): number | undefined => {
  const side = sides.find(({ name }) => name === wanted);
  return side?.records === undefined ? undefined : side.median.clientSeconds / side.records;
};

/** A record has 144 bytes: this is 150 MB a second. */
const initSecondsMax = 0.96e-6;

/** Seconds a record of one side ÷ those of another. */
const growth = (sides: readonly SideReport[], grownName: string, groundName: string): number | undefined => {
  const [grown, ground] = [perRecord(sides, grownName), perRecord(sides, groundName)];
  return grown === undefined || ground === undefined ? undefined : grown / ground;
};

/** The highest peak of any single run of these sides. */
const peakMegabytes = (
  sides: readonly SideReport[],
  isMeant: (name: string) => boolean,
): number | undefined => {
  const peaks = sides
    .filter(({ name }) => isMeant(name))
    .flatMap(({ rounds }) => rounds.map(({ megabytes }) => megabytes));
  return peaks.length === 0 ? undefined : Math.max(...peaks);
};

export const judgeTargets = (
  reports: readonly PartReport[],
  options: BenchOptions,
): readonly TargetReport[] => {
  const compressed = findUsages(reports, 'compressed');
  const textRows = findUsages(reports, 'text-rows');
  const decoder = findUsages(reports, 'decoder');
  const initCpu = cpuPerRecord(findSides(reports, 'decoder'), decoderSides.init);
  const eachObject = perRecord(findSides(reports, 'objects'), objectsSides.s3);
  const scaling = findSides(reports, 'scaling');
  const target = (name: string, limit: number, measured: number | undefined): TargetReport => {
    const judged = measured !== undefined && (measured <= limit ? 'reached' : 'missed');
    return { name, limit, measured, outcome: judged || 'not measured' };
  };
  return [
    target(
      'whole job, partitions by month ÷ one table',
      1,
      ratio(findUsages(reports, 'by-month'), byMonthSides.partitioned, [byMonthSides.one]),
    ),
    ...compressionNames.map((name) =>
      target(
        `one ${name}, 2 workers ÷ the plain file`,
        1.15,
        ratio(compressed, compressedSide(name), [plainSide]),
      ),
    ),
    ...[1, 2].map((workers) =>
      target(
        `one file over HTTP ÷ from disk, workers: ${workers}`,
        1.1,
        ratio(findUsages(reports, 'http'), httpSide(workers), [fileSide(workers)]),
      ),
    ),
    ...[1, 2].map((workers) =>
      target(
        `one file in latin-1 ÷ UTF-8, workers: ${workers}`,
        1.3,
        ratio(findUsages(reports, 'encoded'), encodedSide('latin1', workers), [encodedSide('utf8', workers)]),
      ),
    ),
    target(
      'a night appended ÷ best psql script',
      0.8,
      ratio(findUsages(reports, 'nightly'), nightlySides.etl, [
        nightlySides.straight,
        nightlySides.staged,
        nightlySides.sorted,
      ]),
    ),
    ...Object.keys(mergeParts).map((part) =>
      target(
        `${part} ÷ best psql script`,
        0.85,
        ratio(findUsages(reports, part), mergeSides.etl, Object.values(mergeSides.scripts)),
      ),
    ),
    target(
      'one month of sixty replaced ÷ that month loaded alone',
      1.25,
      ratio(findUsages(reports, 'months'), monthsSides.touched, [monthsSides.alone]),
    ),
    target(
      'load, the server 20 ms away ÷ next door',
      1.1,
      ratio(findUsages(reports, 'distance'), distanceSides.far, [distanceSides.near]),
    ),
    target(
      'text staging, 1 worker ÷ \\copy, unlogged',
      1.05,
      ratio(findUsages(reports, 'verbatim'), verbatimSides.etl, [verbatimSides.copy]),
    ),
    target(
      'rows as text, 2 workers ÷ csv-parse + pg-copy-streams',
      1,
      ratio(textRows, textRowsSides.etl, [textRowsSides.plain]),
    ),
    target(
      'etl init, CPU of a record ÷ that of 150 MB/s',
      1,
      initCpu === undefined ? undefined : initCpu / initSecondsMax,
    ),
    target(
      'decoder alone ÷ csv-parse to arrays, CPU',
      0.1,
      ratio(decoder, decoderSides.compiled, [decoderSides.csvParse], 'clientSeconds'),
    ),
    target(
      'cost per record, 26 M ÷ 1 M (--large)',
      1.1,
      growth(scaling, scalingSide('large', options, 2), scalingSide('medium', options, 2)),
    ),
    ...(
      [
        ['any size', scaling, (name: string) => name.endsWith(twoWorkers)],
        ['one compressed file', findSides(reports, 'compressed'), (name: string) => name !== plainSide],
        ['one file over HTTP', findSides(reports, 'http'), (name: string) => name === httpSide(2)],
        ['10,000 small files', findSides(reports, 'objects'), () => true],
      ] as const
    ).map(([what, sides, isMeant]) =>
      target(`resident memory with 2 workers, ${what}, MB`, 250, peakMegabytes(sides, isMeant)),
    ),
    // 150 a second.
    target('1,000 small objects of S3, seconds', 6.7, eachObject && 1_000 * eachObject),
    target('etl --help, seconds', 0.1, findUsages(reports, 'start-up').get(startUpSides.help)?.seconds),
    target(
      'a run with nothing to do, seconds',
      0.3,
      findUsages(reports, 'start-up').get(startUpSides.unchanged)?.seconds,
    ),
  ];
};
