// A worker that brings its schedule along: it loads data/prices-*.csv every night, and whatever else is enqueued for it.
//
//   DATABASE_URL=postgres://… node main.mjs
//
// CRON and TZ_NAME say when (default: two o'clock in Berlin), HEALTH_PORT where /health, /ready and /metrics are (9464).

import { fileURLToPath } from 'node:url';
import { createWorker, loadPipelineFile, schedule } from 'sluice';

const here = fileURLToPath(new URL('.', import.meta.url));
const folder = fileURLToPath(new URL('pipelines', import.meta.url));
const {
  DATABASE_URL: databaseUrl,
  CRON = '0 2 * * *',
  TZ_NAME = 'Europe/Berlin',
  HEALTH_PORT = '9464',
} = process.env;

/** A line of JSON an event, on stdout, where a container's log is read from. */
const say =
  (level) =>
  (fields, message = '') =>
    process.stdout.write(`${JSON.stringify({ level, message, ...fields })}\n`);
const logger = { debug: () => undefined, info: say('info'), warn: say('warn'), error: say('error') };

// Set at every start: the schedule then has the definition that stands in the folder now. A slot that is due is kept, and any
// number of these processes may do the same.
const { pipeline, directory } = await loadPipelineFile(`${folder}/price.ts`);
const { next } = await schedule.set('nightly-prices', pipeline, {
  databaseUrl,
  directory,
  cron: CRON,
  timeZone: TZ_NAME,
  // A night in which no worker ran is made up for, once.
  catchUp: true,
});
logger.info({ next: next[0] }, 'scheduled');

const worker = await createWorker({
  databaseUrl,
  pipelines: folder,
  // Globs of pipelines are relative to it.
  workingDirectory: here,
  health: { port: Number(HEALTH_PORT) },
  logger,
});
logger.info({ port: worker.healthPort }, 'answers /health, /ready and /metrics');

// The library leaves signals to its host. The first one: no new work, the chunks in flight are finished, the run is handed on to
// another worker; everything is closed then, and the process ends by itself. The second one breaks off.
let closing;
for (const signal of ['SIGINT', 'SIGTERM'])
  process.on(signal, () => {
    if (closing !== undefined) {
      worker.abort();
      return;
    }
    logger.info({ signal }, 'stopping');
    // Kubernetes kills after thirty seconds.
    closing = worker.close({ deadlineMs: 25_000 }).then(() => logger.info({}, 'stopped'));
  });
