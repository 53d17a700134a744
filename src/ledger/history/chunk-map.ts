// A run's chunks: which bytes of which file are loaded, lost in a crash, or loaded again.
//
// A file with too many chunks is divided into equal ranges, and a cell shows the worst state of its
// chunks.

import { rowsOf, type Client } from '../../db/client.ts';
import type { Query } from '../../db/sql.ts';

/** lost: loaded before a crash, and not again yet · reloaded: loaded again after a crash. */
type ChunkState = 'loaded' | 'reloaded' | 'lost';

export interface ChunkCell {
  readonly fileId: number;
  readonly start: number;
  readonly end: number;
  readonly chunks: number;
  readonly records: number;
  readonly rejected: number;
  readonly state: ChunkState;
  readonly session: number;
  readonly epoch: string;
  readonly committedAt: Date;
}

export interface MappedFile {
  readonly id: number;
  readonly table: string;
  readonly file: string;
  /** End of the file's data, as far as known: its size, or the last loaded byte. */
  readonly bytes: number;
  readonly dataByte: number;
  readonly chunks: number;
  readonly records: number;
  readonly lost: number;
  readonly reloaded: number;
  readonly loadedBytes: number;
}

export interface ChunkMap {
  readonly files: readonly MappedFile[];
  readonly cells: readonly ChunkCell[];
}

/** Limits of a map's size, because each cell is an element of the page. */
export const filesOfMap = 40;
const partsMax = 240;
const cellsMax = 1_600;

const partsOf = (files: number): number => Math.min(partsMax, Math.floor(cellsMax / Math.max(1, files)));

const selectFiles = (runId: number, first: number): Query => ({
  text: `select f.id::float8 as id, f.table_name as table, f.name as file,
      greatest(coalesce(f.data_end, case when f.decoding is null then f.bytes end, 0), coalesce(c.end, 0))::float8 as bytes,
      f.data_byte::float8 as "dataByte", c.chunks::float8 as chunks, c.records::float8 as records, c.lost::float8 as lost, c.reloaded::float8 as reloaded,
      c.loaded::float8 as "loadedBytes"
    from etl.run r
    cross join lateral (
      select * from etl.source_file where run_id = r.id order by table_name, ordinal offset $2 limit $3
    ) f
    cross join lateral (
      select count(*) as chunks, coalesce(sum(records), 0) as records, max(byte_end) as end,
        count(*) filter (where epoch <> r.epoch) as lost,
        count(*) filter (where epoch = r.epoch and lost_at is not null) as reloaded,
        coalesce(sum(byte_end - byte_start) filter (where epoch = r.epoch), 0) as loaded
      from etl.chunk where file_id = f.id
    ) c
    where r.id = $1
    order by f.table_name, f.ordinal`,
  values: [runId, first, filesOfMap],
});

const selectCells = (runId: number, files: readonly MappedFile[]): Query => ({
  text: `select c.file_id::float8 as "fileId", min(c.byte_start)::float8 as start, max(c.byte_end)::float8 as end,
      count(*)::float8 as chunks, sum(c.records)::float8 as records, sum(c.rejected)::float8 as rejected,
      case when bool_or(c.epoch <> r.epoch) then 'lost' when bool_or(c.lost_at is not null) then 'reloaded' else 'loaded' end as state,
      (array_agg(c.session order by c.committed_at desc))[1] as session,
      (array_agg(c.epoch order by c.committed_at desc))[1] as epoch, max(c.committed_at) as "committedAt"
    from etl.run r
    cross join unnest($2::bigint[], $3::bigint[], $4::bigint[]) as f (id, chunks, bytes)
    join etl.chunk c on c.file_id = f.id
    where r.id = $1
    group by c.file_id, case when f.chunks <= $5 then c.byte_start else c.byte_start * $5 / greatest(f.bytes, 1) end
    order by 1, 2`,
  values: [
    runId,
    files.map(({ id }) => id),
    files.map(({ chunks }) => chunks),
    files.map(({ bytes }) => bytes),
    partsOf(files.length),
  ],
});

export const chunkMapOf = async (client: Client, runId: number, first = 0): Promise<ChunkMap> => {
  const files = await rowsOf<MappedFile>(client, selectFiles(runId, first));
  return { files, cells: await rowsOf<ChunkCell>(client, selectCells(runId, files)) };
};
