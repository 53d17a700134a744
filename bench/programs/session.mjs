// Replaces psql where there is none: reads a session as JSON and runs it, handing files to COPY byte for byte.
// @ts-check

import { spawn } from 'node:child_process';
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
for (const { sql, copy, file, program, options } of /** @type {any[]} */ (await json(process.stdin)))
  if (sql === undefined)
    await pipeline(
      program === undefined
        ? createReadStream(file, { highWaterMark: 1 << 20 })
        : spawn('sh', ['-c', program], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout,
      client.query(copyFrom(`copy ${copy} from stdin with (${options ?? 'format csv, header'})`)),
    );
  else await client.query(sql);
await client.end();
