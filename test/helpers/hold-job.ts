// A process that takes a job of a run's load queue and never finishes it; it says so and waits to be killed.
//
//   node --import jiti/register hold-job.ts <database-url> <redis-url or ''> <namespace> <run>

import { addressFromUrl } from '../../src/db/connect/address.ts';
import { silentLogger } from '../../src/core/logger.ts';
import { readSegmentJob } from '../../src/pipeline/job-payload.ts';
import { chooseBackend } from '../../src/queue/choose-backend.ts';
import { serveQueue } from '../../src/queue/load-queue.ts';

const [databaseUrl = '', redisUrl = '', namespace = '', run] = process.argv.slice(2);
const never = new Promise<never>(() => undefined);
await serveQueue({
  queues: {
    backend: chooseBackend(addressFromUrl(databaseUrl), redisUrl ? { url: redisUrl } : false, {}),
    namespace,
    logger: silentLogger,
  },
  lease: { runId: Number(run), epoch: '', generation: 1 },
  workers: 1,
  drain: undefined,
  outside: never,
  read: readSegmentJob,
  load: () => {
    process.stdout.write('held\n');
    return never;
  },
});
