// Compares ways to do the same work: they take turns on one server, every result is checked against the others', and
// what counts is the median of the rounds.

import { median, type Usage } from './measure.ts';
import type { BenchServer } from './server.ts';
import { columnDigests, digestOf } from './sql.ts';

/** One way to do the work. */
export interface Side {
  readonly name: string;
  /** Does the work; gives what it took. */
  readonly run: () => Promise<Usage>;
  /** Queries that give the rows it made; rows under one name must be the same on all sides. */
  readonly results: Readonly<Record<string, string>>;
  /** Statement that takes away everything it made, run before and behind each turn. */
  readonly drop: string;
}

export interface SideReport {
  readonly name: string;
  readonly median: Usage;
  readonly rounds: readonly Usage[];
}

/** One comparison, as it stands in the JSON and the table. */
export interface PartReport {
  readonly part: string;
  readonly title: string;
  /** Records that each side loads in one turn. */
  readonly records: number;
  readonly sides: readonly SideReport[];
  /** What the reader should know, such as sides that were left out. */
  readonly notes: readonly string[];
}

const usageKeys = ['seconds', 'clientSeconds', 'serverSeconds', 'megabytes'] as const;

const medianUsage = (rounds: readonly Usage[]): Usage =>
  Object.fromEntries(
    usageKeys.map((key) => [key, median(rounds.map((round) => round[key]))]),
  ) as unknown as Usage;

export const reportSide = (name: string, rounds: readonly Usage[]): SideReport => ({
  name,
  median: medianUsage(rounds),
  rounds,
});

/** What the first side that made a result made of it. */
interface Expected {
  readonly side: Side;
  readonly digest: string;
}

/** Says which columns differ; the other side's rows are gone, so it makes them again. */
const differenceError = async (
  server: BenchServer,
  side: Side,
  result: string,
  digest: string,
  expected: Expected,
): Promise<Error> => {
  const ours = await columnDigests(server, side.results[result]!);
  await server.query(side.drop);
  await expected.side.run();
  const theirs = await columnDigests(server, expected.side.results[result]!);
  const columns = Object.keys({ ...ours, ...theirs }).filter((name) => ours[name] !== theirs[name]);
  return new Error(
    `${side.name} and ${expected.side.name} differ in their ${result}: ${digest} against ${expected.digest}; ` +
      `columns: ${columns.join(', ') || 'each alone is the same, their rows are not'}`,
  );
};

/** Lets the sides take turns. Throws when two of them made different rows. */
export const compare = async (
  server: BenchServer,
  sides: readonly Side[],
  rounds: number,
): Promise<readonly SideReport[]> => {
  const usages = new Map<Side, Usage[]>(sides.map((side) => [side, []]));
  const expected = new Map<string, Expected>();
  for (let round = 1; round <= rounds; round += 1)
    for (const side of sides) {
      await server.query(side.drop);
      // Nobody pays for what the one before left to write.
      await server.query('checkpoint');
      const usage = await side.run();
      process.stderr.write(`  ${round}/${rounds} ${side.name}: ${usage.seconds.toFixed(2)} s\n`);
      usages.get(side)!.push(usage);
      for (const [result, rows] of Object.entries(side.results)) {
        const digest = await digestOf(server, rows);
        const first = expected.get(result);
        if (first === undefined) expected.set(result, { side, digest });
        else if (first.digest !== digest) throw await differenceError(server, side, result, digest, first);
      }
      await server.query(side.drop);
    }
  return sides.map((side) => reportSide(side.name, usages.get(side)!));
};
