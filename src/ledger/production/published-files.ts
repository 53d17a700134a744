// Which version of which file is in production, and how newly listed files differ.

import { runQuery, rowsOf, type Client } from '../../db/client.ts';
import { quoteName, type Query } from '../../db/sql.ts';
import type { NewFile } from '../run/ledger.ts';

export interface FilesOf {
  readonly pipeline: string;
  readonly schema: string;
  readonly table: string;
}

/** A version of a file that is in production, or was removed on request. */
export interface PublishedFile {
  /** Id in etl.source_file, and value of `_file` in the rows. */
  readonly id: number;
  readonly name: string;
  readonly location: string;
  readonly runId: number;
  readonly records: number;
  readonly rows: number;
  readonly publishedAt: Date;
  readonly isUnloaded: boolean;
}

interface ComparedVersion extends PublishedFile {
  /** True if some of its rows were deleted with replaced partitions. */
  readonly isPartial: boolean;
  /** True if rejects were corrected after this version was published. */
  readonly isCorrected: boolean;
  readonly fingerprint: string;
  readonly seenAt: Date;
}

export interface KnownVersion extends ComparedVersion {
  /** Index of the listed file. */
  readonly place: number;
  readonly isSame: boolean;
}

/** A version that may have the content of a file with another name. */
export interface StoredVersion extends ComparedVersion, Pick<NewFile, 'source' | 'member'> {
  readonly constants: NewFile['constants'] | null;
}

/** SQL: identifies a file, whatever its content. */
export const keyOf = (file: string): string =>
  `sha256(convert_to(jsonb_build_array(${file}.source, ${file}.location, ${file}.member)::text, 'UTF8'))`;

const publishedColumns = `p.file_id::float8 as id, p.name, p.location, p.run_id::float8 as "runId", p.records::float8 as records,
  p.rows::float8 as rows, p.published_at as "publishedAt", p.unloaded as "isUnloaded"`;

const ofTable = 'p.pipeline = $1 and p.schema_name = $2 and p.table_name = $3';

const corrected = `corrected as materialized (
    select source, location, member, fingerprint, max(id) as id from etl.correction
      where pipeline = $1 and table_name = $3 group by 1, 2, 3, 4
  )`;

const comparedColumns = `${publishedColumns}, p.replaced > 0 as "isPartial", p.fingerprint, p.seen_at as "seenAt", exists (
    select from corrected c
    where (c.source, c.location, c.fingerprint) = (p.source, p.location, p.fingerprint)
      and c.member is not distinct from p.member and c.id > p.corrections
  ) as "isCorrected"`;

export const knownVersions = (
  client: Client,
  { pipeline, schema, table }: FilesOf,
  files: readonly Pick<NewFile, 'source' | 'location' | 'member' | 'fingerprint'>[],
): Promise<readonly KnownVersion[]> =>
  rowsOf(client, {
    text: `with ${corrected}
      select ${comparedColumns}, (l.place - 1)::int as place, p.fingerprint = l.fingerprint as "isSame"
      from unnest($4::text[], $5::text[], $6::text[], $7::text[]) with ordinality
          as l (source, location, member, fingerprint, place)
        join etl.published_file p on ${ofTable} and p.file_key = ${keyOf('l')}
      order by l.place`,
    values: [
      pipeline,
      schema,
      table,
      files.map(({ source }) => source),
      files.map(({ location }) => location),
      files.map(({ member }) => member),
      files.map(({ fingerprint }) => fingerprint),
    ],
  });

export const otherPipelines = async (
  client: Client,
  { pipeline, schema, table }: FilesOf,
): Promise<readonly string[]> => {
  const { rows } = await client.query(
    `select distinct u.pipeline as name from etl.published_table p join etl.run u on u.id = p.run_id
      where p.table_oid = to_regclass($2) and u.pipeline <> $1`,
    [pipeline, quoteName(schema, table)],
  );
  return rows.map(({ name }) => name);
};

const isCurrent = `p.file_key = ${keyOf('p')}`;

/** Counts the files of which production has a current version. */
export const countFiles = async (client: Client, { pipeline, schema, table }: FilesOf): Promise<number> => {
  const text = `select count(*)::float8 as files from etl.published_file p where ${ofTable} and ${isCurrent}`;
  return (await client.query(text, [pipeline, schema, table])).rows[0].files;
};

export const goneFiles = (
  client: Client,
  { pipeline, schema, table }: FilesOf,
  listed: readonly number[],
): Promise<readonly PublishedFile[]> =>
  rowsOf(client, {
    text: `select ${publishedColumns} from etl.published_file p
      where ${ofTable} and ${isCurrent}
        and not exists (select from unnest($4::bigint[]) l (id) where l.id = p.file_id)
      order by p.file_id`,
    values: [pipeline, schema, table, listed],
  });

/** Returns the ids of all versions of these files and archives. */
export const versionsAt = async (
  client: Client,
  { pipeline, schema, table }: FilesOf,
  found: readonly { readonly file: Pick<NewFile, 'location'> }[],
): Promise<readonly number[]> => {
  const locations = found.map(({ file }) => file.location);
  const { rows } = await client.query(
    `select p.file_id::float8 as id from etl.published_file p where ${ofTable} and p.location = any ($4)`,
    [pipeline, schema, table, locations],
  );
  return rows.map(({ id }) => id);
};

/** Returns a text that changes if this pipeline's files in the table, or their rows, change. */
export const ownFilesOf = async (client: Client, { pipeline, schema, table }: FilesOf): Promise<string> => {
  const { rows } = await client.query<{ state: string }>(
    `select concat_ws(' ', count(*), sum(file_id), sum(rows), sum(replaced), count(*) filter (where unloaded)) as state
      from etl.published_file where pipeline = $1 and schema_name = $2 and table_name = $3`,
    [pipeline, schema, table],
  );
  return rows[0]!.state;
};

export const recordedFiles = async (
  client: Client,
  { schema, table }: FilesOf,
): Promise<readonly number[]> => {
  const { rows } = await client.query(
    'select file_id::float8 as id from etl.published_file where schema_name = $1 and table_name = $2',
    [schema, table],
  );
  return rows.map(({ id }) => id);
};

/** SQL: the last part of a fingerprint, which stays the same when a file is copied or moved. */
const tailOf = (file: string): string => `split_part(${file}.fingerprint, ':', -1)`;

/** Finds files of equal size whose fingerprints end alike: the same file, or a copy. */
export const versionsLike = (
  client: Client,
  { pipeline, schema, table }: FilesOf,
  files: readonly Pick<NewFile, 'bytes' | 'fingerprint'>[],
): Promise<readonly StoredVersion[]> =>
  rowsOf(client, {
    text: `with ${corrected}, listed as (
        select distinct bytes, ${tailOf('l')} as tail from unnest($4::bigint[], $5::text[]) l (bytes, fingerprint)
      )
      select ${comparedColumns}, p.source, p.member, f.constants
      from listed l join etl.published_file p on ${ofTable} and p.bytes = l.bytes and ${tailOf('p')} = l.tail
        left join etl.source_file f on f.id = p.file_id
      order by p.file_id`,
    values: [
      pipeline,
      schema,
      table,
      files.map(({ bytes }) => bytes),
      files.map(({ fingerprint }) => fingerprint),
    ],
  });

export const insertPublishedFiles = (runId: number, schema: string, tables: readonly string[]): Query => ({
  text: `insert into etl.published_file (pipeline, schema_name, table_name, file_key, file_id, source, location, member, name,
        fingerprint, bytes, run_id, records, rows, corrections, seen_at)
      select u.pipeline, $2, f.table_name, ${keyOf('f')}, f.id, f.source, f.location, f.member, f.name, f.fingerprint, f.bytes,
          u.id, coalesce(c.records, 0), coalesce(c.copied, 0), u.corrections, u.started_at
        from etl.run u join etl.source_file f on f.run_id = u.id
          cross join lateral (
            select sum(records) as records, sum(copied) as copied from etl.chunk where file_id = f.id and epoch = u.epoch
          ) c
        where u.id = $1 and f.table_name = any ($3)`,
  values: [runId, schema, tables],
});

export const forgetAllFiles = (schema: string, tables: readonly string[]): Query => ({
  text: 'delete from etl.published_file where schema_name = $1 and table_name = any ($2)',
  values: [schema, tables],
});

export const forgetStale = (schema: string, table: string, ids: readonly number[]): Query => ({
  text: 'delete from etl.published_file where schema_name = $1 and table_name = $2 and file_id = any ($3)',
  values: [schema, table, ids],
});

export const forgetFiles = (pipeline: string, schema: string, ids: readonly number[]): Query => ({
  text: `delete from etl.published_file where pipeline = $1 and schema_name = $2 and file_id = any ($3)
    returning table_name as "table"`,
  values: [pipeline, schema, ids],
});

/** Frees the keys of versions whose rows stay although the file is loaded again. */
export const supersedeFiles = (pipeline: string, schema: string, ids: readonly number[]): Query => ({
  text: `update etl.published_file set file_key = file_key || convert_to('#' || file_id, 'UTF8')
    where pipeline = $1 and schema_name = $2 and file_id = any ($3) returning table_name as "table"`,
  values: [pipeline, schema, ids],
});

/**
 * Marks files as removed from production: they are not loaded again until they change. Returns
 * the `table` of each.
 */
export const unloadFiles = (pipeline: string, schema: string, ids: readonly number[]): Query => ({
  text: `update etl.published_file set unloaded = true, rows = 0
    where pipeline = $1 and schema_name = $2 and file_id = any ($3) returning table_name as "table"`,
  values: [pipeline, schema, ids],
});

/** Subtracts rows that were deleted with replaced partitions; deletes files without rows. */
export const replaceRows = (
  schema: string,
  table: string,
  leaving: readonly { readonly file: number; readonly rows: number }[],
): Query => ({
  text: `with leaving as (select * from unnest($3::bigint[], $4::bigint[]) as l (file_id, gone)),
      forgotten as (
        delete from etl.published_file p using leaving l
          where p.schema_name = $1 and p.table_name = $2 and p.file_id = l.file_id and p.rows <= l.gone
      )
    update etl.published_file p set rows = p.rows - l.gone, replaced = p.replaced + l.gone from leaving l
      where p.schema_name = $1 and p.table_name = $2 and p.file_id = l.file_id and p.rows > l.gone`,
  values: [schema, table, leaving.map(({ file }) => file), leaving.map(({ rows }) => rows)],
});

/** Counts the rows of files not in `listed`: replacing the table would lose these rows. */
export const rowsOfOthers = async (
  client: Client,
  { schema, table }: FilesOf,
  listed: readonly number[],
): Promise<
  readonly {
    readonly pipeline: string;
    readonly files: number;
    readonly rows: number;
    readonly first: string;
  }[]
> =>
  (
    await runQuery(client, {
      text: `select p.pipeline, count(*)::float8 as files, sum(p.rows)::float8 as rows, min(p.name) as first
        from etl.published_file p
        where p.schema_name = $1 and p.table_name = $2 and p.rows > 0
          and not exists (select from unnest($3::bigint[]) l (id) where l.id = p.file_id)
        group by p.pipeline order by p.pipeline`,
      values: [schema, table, listed],
    })
  ).rows;
