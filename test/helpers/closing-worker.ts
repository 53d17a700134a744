// Program: starts and closes a worker, and prints which timers and connections its process then has.
//
//   closing-worker.ts <folder of pipelines>     DATABASE_URL and REDIS_URL name the servers

import { setTimeout as sleep } from 'node:timers/promises';
import { createWorker } from 'sluice';

const [, , , pipelines = ''] = process.argv;
const { DATABASE_URL: databaseUrl, REDIS_URL: url } = process.env;
const worker = await createWorker({ pipelines, databaseUrl, redis: url === undefined ? false : { url } });
// Until it waits for a job.
await sleep(500);
await worker.close();
const left = process.getActiveResourcesInfo().filter((kind) => /^Timeout|TCP/.test(kind));
process.stdout.write(left.join(' '));
