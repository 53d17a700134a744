// Where the time of a run went: what `--profile` gathers.

/** plan: files, header, ledger · load: files into staging · build: new tables aside · test: data tests, if any · publish: the final swap. */
export type RunStep = 'plan' | 'load' | 'build' | 'test' | 'publish';

/** The part of a table that is being built. */
export type BuildWhat = 'rows' | 'primary key' | 'indexes' | 'statistics';

/** Where a worker's time goes while it loads, in milliseconds. */
export interface LoadTimes {
  /** Reading the file, and finding where records end. */
  readonly read: number;
  /** From records to rows of COPY. */
  readonly decode: number;
  /** Waiting until COPY accepts more, and until it is done. */
  readonly copy: number;
  /** The rest of the transaction: epoch, ledger row, rejects, commit. */
  readonly ledger: number;
}

/** LoadTimes in the making. */
export type Times = { -readonly [Key in keyof LoadTimes]: number };

/** How busy the machine of the run was during a step: shares of all its cores. */
export interface MachineUse {
  readonly step: RunStep;
  readonly cores: number;
  /** By all programs. */
  readonly busy: number;
  /** By this process with its threads. */
  readonly own: number;
  /** By the run's sessions on a server of this machine; 0 when its processes are not to be seen. */
  readonly server: number;
}

/** Where the time of a run went; only gathered when asked for. */
export interface RunProfile {
  /** Times of all workers together, by table. */
  readonly load: readonly ({ readonly table: string } & LoadTimes)[];
  readonly build: readonly {
    readonly table: string;
    readonly what: BuildWhat;
    readonly seconds: number;
  }[];
  /** What the server's sessions of the run were doing when looked at: shares that add up to 1 for each step. */
  readonly server: readonly { readonly step: RunStep; readonly doing: string; readonly share: number }[];
  readonly machine: readonly MachineUse[];
  /** What that says: the limit of the run, and what would change it. Sentences for people. */
  readonly advice: readonly string[];
}

/** What was measured of a run, before anything was concluded. */
export type Measurements = Omit<RunProfile, 'advice'>;
