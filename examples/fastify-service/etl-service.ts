// A provider in the style of NestJS: its framework starts it, injects it, and closes it.
//
// In NestJS, put `@Injectable()` above the class and the class into `providers` of a module, make its options a
// provider, too, and call `app.enableShutdownHooks()`: Nest then calls onModuleInit and onModuleDestroy itself.
// Both are found by their names, so the class needs nothing of Nest, and main.ts gives it to Fastify unchanged.

import {
  createClient,
  createWorker,
  enqueue,
  loadPipelineFile,
  queueState,
  type EtlClient,
  type EtlWorker,
} from 'sluice';

export interface EtlServiceOptions {
  readonly databaseUrl: string | undefined;
  /** Folder of the pipelines. Only these can be started: what comes over the network never names a file. */
  readonly pipelines: string;
}

export class EtlService {
  readonly #options: EtlServiceOptions;
  #client: EtlClient | undefined;
  #worker: EtlWorker | undefined;

  constructor(options: EtlServiceOptions) {
    this.#options = options;
  }

  async onModuleInit(): Promise<void> {
    this.#client = createClient({ databaseUrl: this.#options.databaseUrl });
    // A service of several processes has one queue: any worker of them takes a run, and all help with a large one.
    this.#worker = await createWorker(this.#options);
  }

  /** Finishes the chunks in flight; another worker, or the next start, continues the run. */
  async onModuleDestroy(): Promise<void> {
    await this.#worker?.close({ deadlineMs: 20_000 });
    await this.#client?.close();
  }

  get pipelines(): readonly string[] {
    return this.#worker?.pipelines ?? [];
  }

  /** Puts a run on the queue, unless one of this pipeline waits or runs. Undefined: there is no such pipeline. */
  async start(name: string): Promise<{ readonly job: string; readonly isNew: boolean } | undefined> {
    if (!this.pipelines.includes(name)) return undefined;
    // Each file of the folder is named after its pipeline.
    const { pipeline, directory } = await loadPipelineFile(`${this.#options.pipelines}/${name}.ts`);
    return enqueue(pipeline, { client: this.#client!, directory, dedupe: name });
  }

  /** Counts of runs: how many wait, run and have failed. */
  async state(): Promise<Awaited<ReturnType<typeof queueState>>> {
    return queueState({ client: this.#client! });
  }
}
