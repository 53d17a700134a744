// A closed worker leaves nothing that keeps its process alive.

import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { runTypeScript } from '../helpers/run-typescript.ts';
import { useDatabase } from '../helpers/server.ts';
import { queueKinds, usePlace } from '../helpers/workers.ts';

const program = fileURLToPath(new URL('../helpers/closing-worker.ts', import.meta.url));
const database = useDatabase();

describe.each(queueKinds)('a worker of queues in $kind', ({ kind }) => {
  const { place } = usePlace(kind, database);

  it('has neither timers nor connections once it is closed', async () => {
    const { redis } = place();
    const env = { DATABASE_URL: database.url, ...(redis && { REDIS_URL: redis.url }) };
    const ended = await runTypeScript(program, ['pipelines'], { cwd: process.cwd(), env });
    expect(ended).toEqual({ exit: 0, out: '', err: '' });
  });
});
