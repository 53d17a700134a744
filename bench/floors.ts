// Floors: what the server alone takes for rows that are binary COPY already. Nothing is read, decoded or checked, so no client is faster.

import { mkdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import type { Bench } from './bench-context.ts';
import type { PsqlScript } from './shapes/contract.ts';
import { dropSchemas, sessionStart } from './sides.ts';

const schema = 'bench_binary';
const rows = `${schema}.rows`;

/** Files that psql copies as they are, and the script that does. */
export interface BinaryRows {
  readonly script: PsqlScript;
  readonly paths: readonly string[];
}

/** Files, and a directory that holds them. */
export interface LoadedFiles {
  readonly directory: string;
  readonly files: readonly { readonly path: string }[];
}

/** Makes two files of binary rows, each with half of the rows of these files, as the table of the shape has them. */
export const makeBinaryRows = async (
  { server, sessions }: Bench,
  script: PsqlScript,
  { directory, files }: LoadedFiles,
): Promise<BinaryRows> => {
  // The directory of the files contains nothing else.
  const aside = `${directory}-binary`;
  mkdirSync(aside, { recursive: true });
  const paths = [1, 2].map((half) => join(aside, `${basename(files[0]!.path)}-${half}.bin`));
  const middle = `format('(%s,0)', pg_relation_size('${rows}') / current_setting('block_size')::integer / 2)::tid`;
  await server.query(`${dropSchemas(schema)}; create schema ${schema}`);
  await sessions.run([
    [
      [
        ...sessionStart(script),
        { sql: `create unlogged table ${schema}.loaded (${script.loaded})` },
        ...files.map(({ path }) => ({ copy: `${schema}.loaded`, options: script.copy, file: path })),
        { sql: `create unlogged table ${rows} as select ${script.casts ?? '*'} from ${schema}.loaded` },
        ...paths.map((to, half) => ({
          query: `select * from ${rows} where ctid ${half === 0 ? '<' : '>='} ${middle}`,
          options: 'format binary',
          to,
        })),
        // What is left says which columns the rows have.
        { sql: `truncate ${rows}, ${schema}.loaded` },
      ],
    ],
  ]);
  const { casts: _, ...rest } = script;
  return { script: { ...rest, copy: 'format binary', loaded: `like ${rows}` }, paths };
};
