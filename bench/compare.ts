// Compares ways to do the same work: they take turns on one server, every result is checked against the others', and
// what counts is the median of the rounds.

import { median, type Usage } from './measure.ts';
import type { BenchServer } from './server.ts';
import { columnDigests, digestOf } from './sql.ts';

/** One way to do the work. */
export interface Side {
  readonly name: string;
  /** Records that it loads in one turn, if that is what it does. By default the rows of its result. */
  readonly records?: number;
  /** The side that its time is divided by; by default the first one. */
  readonly like?: string;
  /** Does the work; gives what it took. */
  readonly run: () => Promise<Usage>;
  /** Queries that give the rows it made; rows under one name must be the same on all sides of as many records. */
  readonly results: Readonly<Record<string, string>>;
  /** Statements that restore the state before it, run before and after each turn. */
  readonly reset: string;
  /** Statements that are run after each turn in its place, where it takes long: they leave nothing that another side would notice. */
  readonly leave?: string;
  /** A table that is not new in the state before it: autovacuum has been there since its rows came. Without that, the
   *  first scan of the table writes all of it to the log. */
  readonly vacuumed?: string;
}

/** One turn, and what the server wrote to its log meanwhile. */
export interface Turn extends Usage {
  readonly logMegabytes: number;
}

export interface SideReport extends Pick<Side, 'name' | 'records' | 'like'> {
  readonly median: Turn;
  readonly rounds: readonly Turn[];
}

/** One comparison, as the JSON and the table have it. */
export interface PartReport {
  readonly part: string;
  readonly title: string;
  /** Number of fields of a record. */
  readonly fields?: number;
  readonly sides: readonly SideReport[];
}

const medianTurn = (rounds: readonly Turn[]): Turn => {
  const of = (value: (round: Turn) => number): number => median(rounds.map(value));
  const steps = Object.keys(rounds[0]?.steps ?? {}).map((step) => [step, of((round) => round.steps![step]!)]);
  return {
    seconds: of(({ seconds }) => seconds),
    clientSeconds: of(({ clientSeconds }) => clientSeconds),
    serverSeconds: of(({ serverSeconds }) => serverSeconds),
    megabytes: of(({ megabytes }) => megabytes),
    logMegabytes: of(({ logMegabytes }) => logMegabytes),
    ...(steps.length > 0 && { steps: Object.fromEntries(steps) }),
  };
};

/** How much the server has ever written to its log: nothing else is done on it. */
const logMegabytes = async ({ query }: BenchServer): Promise<number> => {
  const [row] = await query(
    `select ((pg_current_wal_insert_lsn() - '0/0'::pg_lsn) / 1e6)::float8 as written`,
  );
  return row!['written'] as number;
};

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
  await server.query(side.reset);
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
  const usages = new Map<Side, Turn[]>(sides.map((side) => [side, []]));
  const expected = new Map<string, Expected>();
  const rowsOf = new Map<Side, number>();
  for (let round = 1; round <= rounds; round += 1)
    for (const side of sides) {
      await server.query(side.reset);
      if (side.vacuumed !== undefined) await server.query(`vacuum (freeze, analyze) ${side.vacuumed}`);
      // Nobody pays for what the one before left to write.
      await server.query('checkpoint');
      const written = await logMegabytes(server);
      const usage = { ...(await side.run()), logMegabytes: (await logMegabytes(server)) - written };
      process.stderr.write(`  ${round}/${rounds} ${side.name}: ${usage.seconds.toFixed(2)} s\n`);
      usages.get(side)!.push(usage);
      for (const [result, rows] of Object.entries(side.results)) {
        const digest = await digestOf(server, rows);
        rowsOf.set(side, Number.parseInt(digest, 10));
        const key = `${result} of ${side.records}`;
        const first = expected.get(key);
        if (first === undefined) expected.set(key, { side, digest });
        else if (first.digest !== digest) throw await differenceError(server, side, result, digest, first);
      }
      await server.query(side.leave ?? side.reset);
    }
  return sides.map((side) => {
    const { name, records = rowsOf.get(side), like } = side;
    const taken = usages.get(side)!;
    return { name, records, like, median: medianTurn(taken), rounds: taken };
  });
};
