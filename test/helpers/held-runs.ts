// Runs that stop at chosen steps until the test lets them go on, so that several of them take turns in any order.

import { openProxy, type Point, type Verdict } from './fault-proxy.ts';

const statement = (name: string, pattern: RegExp, nth = 1): Point => ({
  name,
  when: 'before',
  nth,
  matches: (effect) => 'sql' in effect && pattern.test(effect.sql),
});

/** Where a run that loads something is held. Each is counted from the one before. */
export const holds = {
  /** Its files are judged, and it is not written yet. */
  planned: statement('planned', /; insert into etl\.run \(/),
  /** Its tables are built; it is said to be publishing next. */
  built: statement('built', /^update etl\.run set state = \$2/, 3),
  /** Production was judged, and the publishing transaction begins next. */
  judged: statement('judged', /^begin; set local idle_in_transaction_session_timeout/),
  /** It has written all that it publishes, under its locks. */
  written: statement('written', /^insert into etl\.published_table/),
} as const;

export interface HeldRun<End> {
  /** Lets the run go on to its next hold, or to its end; then returns this. */
  readonly advance: () => Promise<End | undefined>;
  /** Lets it go on to its end, whatever happens to the effect that it is held before. */
  readonly finish: (verdict?: Verdict) => Promise<End>;
}

/** A run of a database, by its URL, through a proxy of its own. `start` gets the URL of the proxy, and settles when the run has ended. */
export const holdRun = async <End>(
  databaseUrl: string,
  points: readonly Point[],
  start: (url: string) => Promise<End>,
): Promise<HeldRun<End>> => {
  const proxy = await openProxy(Number(new URL(databaseUrl).port));
  const url = new URL(databaseUrl);
  url.port = String(proxy.port);
  let release: (verdict: Verdict) => void = () => undefined;
  let place = 0;
  let running: Promise<End> | undefined;
  /** Settles at the next hold. */
  const nextHold = (): Promise<undefined> =>
    new Promise((reached) => {
      const point = points[place];
      if (point === undefined) return;
      place += 1;
      proxy.arm(point, () => {
        reached(undefined);
        return new Promise<Verdict>((resolve) => (release = resolve));
      });
    });
  const go = (): Promise<End> => (running ??= start(url.href).finally(() => void proxy.close()));
  return {
    advance: () => {
      const held = nextHold();
      release('forward');
      return Promise.race([held, go()]);
    },
    finish: (verdict = 'forward') => {
      proxy.disarm();
      release(verdict);
      return go();
    },
  };
};

/** Every order in which two runs take so many turns each: `aabb`, `abab` … */
export const turnsOf = (names: readonly [string, string], turns: number): readonly string[] => {
  const orders = (first: number, second: number): readonly string[] => {
    if (first + second === 0) return [''];
    return [
      ...(first > 0 ? orders(first - 1, second).map((rest) => names[0] + rest) : []),
      ...(second > 0 ? orders(first, second - 1).map((rest) => names[1] + rest) : []),
    ];
  };
  return orders(turns, turns);
};
