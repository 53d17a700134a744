// How the time of a run was spent, as `--profile` measures it.

/**
 * plan: list files and read headers · load: files into staging · build: new tables beside the
 * production tables · test: data tests · publish: the new tables replace the old ones.
 */
export type RunStep = 'plan' | 'load' | 'build' | 'test' | 'publish';

/**
 * Where the time of a run went. A step lasts until the next begins: `plan` includes writing the run
 * and the rehearsal, `load` the check of rejects. connect: connection, checks, migrations and lock ·
 * hooks: the pipeline's hooks · wait: for a lost server · finish: after the commit.
 */
export type TimedStep = RunStep | 'connect' | 'hooks' | 'wait' | 'finish';

/** The part of a table that is being built. */
export type BuildWhat = 'rows' | 'primary key' | 'indexes' | 'statistics';

/** How a worker spends its time while it loads, in milliseconds. */
export interface LoadTimes {
  /** Reading the file and finding the ends of records. */
  readonly read: number;
  /** Turning records into rows for COPY. */
  readonly decode: number;
  /** Waiting for COPY to accept more data, and for its end. */
  readonly copy: number;
  /** The rest of the transaction: checks, ledger row, rejects, commit. */
  readonly ledger: number;
}

export type Times = { -readonly [Key in keyof LoadTimes]: number };

/** How busy the run's machine was during a step: shares of all its cores, from 0 to 1. */
export interface MachineUse {
  /** Step of the run that was measured. */
  readonly step: RunStep;
  /** Number of cores of the machine. */
  readonly cores: number;
  /** CPU share of all processes. */
  readonly busy: number;
  /** CPU share of this process and its threads. */
  readonly own: number;
  /** CPU share of the run's sessions; 0 if the server is on another machine or hidden. */
  readonly server: number;
}

/** How the time of a run was spent. */
export interface RunProfile {
  /** Sums of the times of all workers, by table. */
  readonly load: readonly ({
    /** Table that was loaded. */
    readonly table: string;
  } & LoadTimes)[];
  /** How long each part of each new table took to build. */
  readonly build: readonly {
    /** Table that was built. */
    readonly table: string;
    /** Part of the table. */
    readonly what: BuildWhat;
    /** Duration in seconds. */
    readonly seconds: number;
  }[];
  /** What the run's sessions on the server were doing, sampled. Shares of a step add up to 1. */
  readonly server: readonly {
    /** Step of the run that was sampled. */
    readonly step: RunStep;
    /** 'running', 'waiting for etl' (for bytes from us), or a wait event of pg_stat_activity. */
    readonly doing: string;
    /** Share of the step's samples, from 0 to 1. */
    readonly share: number;
  }[];
  /** How busy the run's machine was in each step. */
  readonly machine: readonly MachineUse[];
  /** Sentences for people: what limited the run, and what would make it faster. */
  readonly advice: readonly string[];
}

export type Measurements = Omit<RunProfile, 'advice'>;
