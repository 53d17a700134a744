// Replaces psql where there is none: reads a session as JSON and runs it, handing files to COPY byte for byte.
// @ts-check

import { spawn } from 'node:child_process';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { json } from 'node:stream/consumers';
import pg from 'pg';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
for (const { sql, copy, file, program, query, to, options = 'format csv, header' } of /** @type {any[]} */ (
  await json(process.stdin)
))
  if (query !== undefined)
    await pipeline(
      client.query(copyTo(`copy (${query}) to stdout with (${options})`)),
      createWriteStream(to),
    );
  else if (sql === undefined)
    await pipeline(
      program === undefined
        ? createReadStream(file, { highWaterMark: 1 << 20 })
        : spawn('sh', ['-c', program], { stdio: ['ignore', 'pipe', 'inherit'] }).stdout,
      client.query(copyFrom(`copy ${copy} from stdin with (${options})`)),
    );
  else await client.query(sql);
await client.end();
