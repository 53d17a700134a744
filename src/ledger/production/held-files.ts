// Files that the newest run of a pipeline held back.

import { isThere, rowsOf, type Client } from '../../db/client.ts';
import { storableJson, type Query } from '../../db/sql.ts';
import type { HeldFile } from '../../core/model.ts';
import { fileKey } from '../run/decide.ts';
import type { NewFile } from '../run/ledger.ts';

export type HeldReason = Pick<HeldFile, 'code' | 'problem'>;

/** `version`: of a file that was read before its fault was found, which need not be read again. */
export interface HeldVersion extends HeldFile, Pick<NewFile, 'source' | 'member'> {
  readonly version: string | null;
}

/** SQL: a row's file, as a HeldFile. */
const heldFile = `file - '{source,member,version}'::text[]`;

export const heldFiles = async (client: Client, pipeline: string): Promise<readonly HeldFile[]> => {
  const rows = await rowsOf<{ held: HeldFile }>(client, {
    text: `select ${heldFile} as held from etl.held_file where pipeline = $1 order by file ->> 'table', file ->> 'file'`,
    values: [pipeline],
  });
  return rows.map(({ held }) => held);
};

/** Returns the held files by `fileKey`. */
export const heldBefore = async (
  client: Client,
  pipeline: string,
): Promise<ReadonlyMap<string, HeldVersion>> => {
  const rows = await rowsOf<{ file: HeldVersion }>(client, {
    text: 'select file from etl.held_file where pipeline = $1',
    values: [pipeline],
  });
  return new Map(rows.map(({ file }) => [fileKey(file), file]));
};

export interface ListedHeld extends HeldFile {
  readonly pipeline: string;
  readonly heldAt: Date;
}

/** Returns held files of one pipeline, or of all, the newest first. */
export const listHeld = async (
  client: Client,
  { pipeline, limit }: { readonly pipeline?: string | undefined; readonly limit: number },
): Promise<readonly ListedHeld[]> => {
  if (!(await isThere(client, 'etl.held_file'))) return [];
  const rows = await rowsOf<{ pipeline: string; heldAt: Date; held: HeldFile }>(client, {
    text: `select pipeline, held_at as "heldAt", ${heldFile} as held from etl.held_file
      where $1::text is null or pipeline = $1
      order by held_at desc, pipeline, file ->> 'table', file ->> 'file' limit $2`,
    values: [pipeline, limit],
  });
  return rows.map(({ held, ...row }) => ({ ...row, ...held }));
};

/** Replaces the held files of a pipeline. A file that stays held back keeps its `held_at`. */
export const replaceHeld = (pipeline: string, held: readonly HeldVersion[]): Query => ({
  text: `with gone as (
      delete from etl.held_file where pipeline = $1 returning file - '{version,problem}'::text[] as same, held_at
    )
    insert into etl.held_file (pipeline, file, held_at)
      select $1, h.file, coalesce(g.held_at, clock_timestamp())
        from jsonb_array_elements($2::jsonb) h (file)
          left join gone g on g.same = h.file - '{version,problem}'::text[]`,
  values: [pipeline, storableJson(held)],
});
