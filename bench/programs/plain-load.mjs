// The script that people write with csv-parse and pg-copy-streams: one file into a typed table that is there already.
// It checks nothing: a value that the server refuses ends it.
//
//   DATABASE_URL=… node plain-load.mjs <file> <table>
// @ts-check

import { createReadStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { parse } from 'csv-parse';
import pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';

const [file = '', table = ''] = process.argv.slice(2);

const nulls = new Set(['', 'M', 'null', 'VR']);
/** @param {string | undefined} value */
const text = (value = '') =>
  nulls.has(value)
    ? '\\N'
    : value.replace(/[\\\t\n\r]/g, (/** @type {string} */ character) => `\\${character}`);

/**
 * The fields by their places in the header.
 *
 * @param {string[]} fields
 */
const copyLine = (fields) => {
  const values = [fields[0], `${fields[1]} ${fields[2]}`];
  for (const at of [4, 6, 8, 12, 16, 20, 22, 24, 26, 30]) values.push(fields[at]);
  values.push(fields[40] === 'T' ? '0' : fields[40], fields[42]);
  return `${values.map(text).join('\t')}\n`;
};

/** Lines are handed on in pieces of 64 KiB, because a write for each of them would cost more than all the rest. */
const toCopy = () => {
  let lines = '';
  return new Transform({
    writableObjectMode: true,
    transform(fields, _, done) {
      lines += copyLine(fields);
      if (lines.length < 65_536) return done();
      const piece = lines;
      lines = '';
      return done(null, piece);
    },
    flush(done) {
      done(null, lines);
    },
  });
};

const client = new pg.Client({ connectionString: process.env.DATABASE_URL });
await client.connect();
await pipeline(
  createReadStream(file, { highWaterMark: 1 << 20 }),
  parse({ from_line: 2, trim: true }),
  toCopy(),
  client.query(copyFrom(`copy ${table} from stdin`)),
);
await client.end();
