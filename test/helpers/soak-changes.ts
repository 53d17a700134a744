// Changes the files of a soak between two runs of their pipeline, and looks each time whether the last run was right.

import type { Chance } from './seeded.ts';
import type { TestDatabase } from './server.ts';
import type { SoakPipeline, Sums } from './soak-pipelines.ts';

export interface Changes {
  /** Looks at a pipeline by chance; when its run is over, judges that, and changes the files or leaves them as they are. */
  readonly makeOne: () => Promise<void>;
  /** From now on files stay as they are. */
  readonly end: () => void;
  /** Whether every pipeline has had a run since the last change of its files. */
  readonly areLoaded: () => Promise<boolean>;
  readonly count: number;
  /** Runs after which production differed from the files. */
  readonly wrong: readonly string[];
  readonly expected: (pipeline: SoakPipeline) => Sums;
  readonly production: (pipeline: SoakPipeline) => Promise<Sums | undefined>;
}

interface Standing {
  sums: Sums;
  /** Newest job when the files were written: only a later one need have loaded them. */
  job: string | null;
}

export const createChanges = (
  database: TestDatabase,
  pipelines: readonly SoakPipeline[],
  chance: Chance,
): Changes => {
  const wrong: string[] = [];
  let count = 0;
  let isOver = false;
  const standing = new Map<SoakPipeline, Standing>(
    pipelines.map((pipeline) => [pipeline, { sums: pipeline.change(), job: null }]),
  );
  const production: Changes['production'] = async ({ sql }) => (await database.query(sql)).rows[0] as never;

  const judge = async (pipeline: SoakPipeline, job: string): Promise<void> => {
    const { sums, job: before } = standing.get(pipeline)!;
    const found = job === before ? sums : await production(pipeline);
    if (JSON.stringify(found) !== JSON.stringify(sums))
      wrong.push(`${job}: ${JSON.stringify(found)}, not ${JSON.stringify(sums)}`);
  };
  // The row is locked meanwhile: no slot of it is decided on, and no run of it begins.
  const look = async (pipeline: SoakPipeline): Promise<void> => {
    const { rows } = await database.query(
      `select job, job_state as state from etl.schedule where name = $1 for update skip locked`,
      [pipeline.name],
    );
    const { job, state } = rows[0] ?? {};
    if (state !== 'published' && state !== 'unchanged') return;
    await judge(pipeline, job);
    if (isOver || job === standing.get(pipeline)!.job || chance.between(1, 4) === 1) return;
    standing.set(pipeline, { sums: pipeline.change(), job });
    count += 1;
  };
  const areLoaded = async (): Promise<boolean> => {
    const { rows } = await database.query<{ name: string; job: string; state: string }>(
      'select name, job, job_state as state from etl.schedule',
    );
    const isLoaded = (pipeline: SoakPipeline): boolean => {
      const row = rows.find(({ name }) => name === pipeline.name);
      return (
        row?.job !== standing.get(pipeline)!.job && ['published', 'unchanged'].includes(row?.state ?? '')
      );
    };
    return pipelines.every(isLoaded);
  };
  return {
    end: () => void (isOver = true),
    areLoaded,
    makeOne: async () => {
      await database.query('begin');
      try {
        await look(chance.pick(pipelines));
      } finally {
        await database.query('commit');
      }
    },
    get count() {
      return count;
    },
    wrong,
    expected: (pipeline) => standing.get(pipeline)!.sums,
    production,
  };
};
