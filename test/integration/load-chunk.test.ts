// Chunks on a real server: loaded once, bad records found, the connection usable whatever happened.

import { truncate } from 'node:fs/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient } from '../../src/db/client.ts';
import { recordBytesMax } from '../../src/core/limits.ts';
import { column } from '../../src/pipeline/declare/column.ts';
import type { Position } from '../../src/core/model.ts';
import type { Chunk } from '../../src/load/chunk/chunk.ts';
import { loadChunk } from '../../src/load/chunk/load-chunk.ts';
import type { Effect } from '../helpers/fault-messages.ts';
import { openProxy } from '../helpers/fault-proxy.ts';
import { serverMajor } from '../helpers/major-server.ts';
import { ask, startOwnServer } from '../helpers/own-server.ts';
import { useDatabase } from '../helpers/server.ts';
import { loadAll, rejectsOf, stagingRows, startOf, withChunkFile, type ChunkFile } from './chunk-loading.ts';

const database = useDatabase();

beforeAll(async () => {
  await database.query(`
    create domain even as integer check (value % 2 = 0);
    create function says_even(integer) returns boolean language plpgsql immutable as $$
      begin
        raise notice 'line %', $1;
        return $1 % 2 = 0;
      end $$;
    create domain spoken as integer check (public.says_even(value));
    create function silences(integer) returns boolean language plpgsql immutable as $$
      begin
        perform set_config('client_min_messages', 'error', true);
        return $1 % 2 = 0;
      end $$;
    create domain silenced as integer check (public.silences(value));
    create function throws(integer) returns boolean language plpgsql immutable as $$
      begin
        if $1 % 2 = 1 then raise 'it is odd'; end if;
        return true;
      end $$;
    create domain thrown as integer check (public.throws(value));
    do $$ begin execute format('alter database %I set client_min_messages = error', current_database()); end $$`);
});

const typed = { id: column.integer('id'), note: column.text('note').nullable() };

/** What a chunk came to, without where its time went. */
const untimed = ({ end, counts }: Chunk): object => ({ end, counts });

describe('loadChunk', () => {
  it('a second load of a chunk copies nothing', async () => {
    const content = 'id,note\n1,a\nx,b\n3,c\n';
    await withChunkFile(database.url, { content, columns: typed }, async (prepared) => {
      const { load, file, client } = prepared;
      const first = await loadChunk(load, startOf(file));
      const before = await client.query('select * from etl.chunk where file_id = $1', [file.id]);
      const second = await loadChunk(load, startOf(file));
      expect(untimed(second)).toEqual(untimed(first));
      expect(untimed(first)).toEqual({
        end: { byte: content.length, line: 5, record: 4 },
        counts: { records: 3, copied: 2, rejected: 1, filtered: 0 },
      });
      expect(await stagingRows(prepared)).toEqual([
        [1, 'a'],
        [3, 'c'],
      ]);
      expect(await rejectsOf(prepared)).toHaveLength(1);
      expect((await client.query('select * from etl.chunk where file_id = $1', [file.id])).rows).toEqual(
        before.rows,
      );
    });
  });

  it('two connections that load the same chunk at once load it once', async () => {
    const content = `id,note\n${'1,a\n'.repeat(1000)}`;
    await withChunkFile(database.url, { content, columns: typed }, async (prepared) => {
      const { load, file } = prepared;
      const [one, two] = await withClient(addressFromUrl(database.url), (client) =>
        Promise.all([loadChunk(load, startOf(file)), loadChunk({ ...load, client }, startOf(file))]),
      );
      expect(untimed(one)).toEqual(untimed(two));
      expect(await stagingRows(prepared)).toHaveLength(1000);
    });
  });

  it('rows that the server takes and does not keep are no rows', async () => {
    const content = 'id,note\n1,a\n2,b\n3,c\n';
    await withChunkFile(
      database.url,
      { content, columns: typed },
      async ({ client, load, file, staging }) => {
        await client.query(`create function s_skip() returns trigger language plpgsql
          as 'begin if new.id = 2 then return null; end if; return new; end';
        create trigger skip before insert on ${staging} for each row execute function s_skip()`);
        await expect(loadChunk(load, startOf(file))).rejects.toMatchObject({
          code: 'ETL_INCOMPLETE',
          details: { problem: expect.stringContaining('3 rows sent, the server took 2') as unknown },
        });
        expect((await client.query('select from etl.chunk where file_id = $1', [file.id])).rowCount).toBe(0);
      },
    );
  });

  it('waits for two answers, beside those of its rejects: of its COPY, and of its commit', async () => {
    const proxy = await openProxy(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(proxy.port);
    const effects: string[] = [];
    let sent: () => void = () => undefined;
    const matches = ({ kind, sql }: Effect): boolean => {
      if (kind === 'copy done') sent();
      // COPY data waits for no answer.
      if (kind !== 'copy data') effects.push(kind === 'copy done' ? kind : /^\w+/.exec(sql)![0]);
      return false;
    };
    try {
      const content = 'id,note\n1,a\n2,b\nx,c\n';
      await withChunkFile(url.href, { content, columns: typed, chunkBytes: 4 }, async ({ load, file }) => {
        proxy.arm({ name: 'every effect', when: 'before', nth: 1, matches }, () => 'forward');
        /** Until all bytes are sent, there is no answer that could be waited for. */
        const loadHeld = (start: Position): ReturnType<typeof loadChunk> => {
          proxy.holdAnswers(new Promise<void>((resolve) => (sent = resolve)));
          return loadChunk(load, start);
        };
        const first = await loadHeld(startOf(file));
        expect(effects).toEqual(['begin', 'copy done', 'update']);
        await loadHeld(first.end);
        expect(effects.slice(3)).toEqual(['begin', 'copy done', 'update']);
        await loadHeld({ byte: 16, line: 4, record: 3 });
        expect(effects.slice(6)).toEqual(['begin', 'copy done', 'insert', 'update']);
      });
    } finally {
      await proxy.close();
    }
  });

  it('texts that the server refuses cost no COPY each, a wrong number of fields costs one, and what only COPY can find no more than four', async () => {
    const proxy = await openProxy(Number(new URL(database.url).port));
    const url = new URL(database.url);
    url.port = String(proxy.port);
    let copies = 0;
    const matches = ({ kind }: Effect): boolean => {
      copies += Number(kind === 'copy done');
      return false;
    };
    const records = Array.from({ length: 3_000 }, (_, id) => ({ id, isRefused: id % 30 === 7 }));
    const copiesOf = async (lines: readonly string[], columns?: object): Promise<number> => {
      const content = `id,value\n${lines.join('\n')}\n`;
      copies = 0;
      await withChunkFile(url.href, { content, ...(columns && { columns }) }, async (prepared) => {
        proxy.arm({ name: 'every effect', when: 'before', nth: 1, matches }, () => 'forward');
        await loadAll(prepared);
        expect(prepared.reported()).toMatchObject({ copied: 2_900, rejected: 100 });
      });
      return copies;
    };
    try {
      const even = { id: column.integer('id'), value: column.of('public.even', 'value') };
      const odd = records.map(({ id, isRefused }) => `${id},${2 * id + Number(isRefused)}`);
      const most = serverMajor < 16 ? 410 : serverMajor < 17 ? 9 : 3;
      expect(await copiesOf(odd, even)).toBeLessThanOrEqual(most);
      const long = records.map(({ id, isRefused }) => `${id},x${isRefused ? ',y' : ''}`);
      expect(await copiesOf(long)).toBeLessThan(110);
      const thrown = { ...even, value: column.of('public.thrown', 'value') };
      expect(await copiesOf(odd, thrown)).toBeLessThan(410);
    } finally {
      await proxy.close();
    }
  });

  const sizes = [1, 2, 3, 5, 8, 13, 21, 1000];
  it.each(sizes)('in chunks of %i bytes the same rows come out', async (chunkBytes) => {
    const content = 'id,note\n1,"a\nb"\r\n\n2,\nx,c\n3,"d""e"\n\n4,é𝄞\n"5,f\n6,g';
    await withChunkFile(database.url, { content, columns: typed, chunkBytes }, async (prepared) => {
      await loadAll(prepared);
      expect(await stagingRows(prepared)).toEqual([
        [1, 'a\nb'],
        [2, null],
        [3, 'd"e'],
        [4, 'é𝄞'],
        [6, 'g'],
      ]);
      const rejects = await rejectsOf(prepared);
      expect(rejects.map(({ line, record, code, raw }) => [line, record, code, raw])).toEqual([
        [6, 3, 'type', 'x,c'],
        [10, 6, 'quote', '"5,f'],
      ]);
      const { rows } = await prepared.client.query(
        `select max(byte_end)::int as byte_end, sum(records)::int as records, sum(copied)::int as copied
         from etl.chunk where file_id = $1`,
        [prepared.file.id],
      );
      expect(rows).toEqual([{ byte_end: Buffer.byteLength(content), records: 7, copied: 5 }]);
      expect(prepared.reported()).toMatchObject({ records: 7, copied: 5, rejected: 2 });
    });
  });

  it.each([1, 2, 3, 7])(
    'a chunk ends at its reject number %i, whether we or the server refused it, and nothing is lost',
    async (rejectsMax) => {
      const content = 'id,value\n\nx,8\n2,8\n3,7\n\ny,"8\n"z,8\n4,8\n5,7\n6,9\n7,8\n\n';
      const columns = { id: column.integer('id'), value: column.of('public.even', 'value') };
      await withChunkFile(database.url, { content, columns, rejectsMax }, async (prepared) => {
        const chunks = await loadAll(prepared);
        const rejects = await rejectsOf(prepared);
        expect(rejects.map(({ line, record, code }) => [line, record, code])).toEqual([
          [3, 1, 'type'],
          [5, 3, 'server'],
          [7, 4, 'quote'],
          [8, 5, 'quote'],
          [10, 7, 'server'],
          [11, 8, 'server'],
        ]);
        expect(await stagingRows(prepared)).toEqual([
          [2, 8],
          [4, 8],
          [7, 8],
        ]);
        expect(chunks).toBe(Math.ceil(6 / rejectsMax));
        const { rows } = await prepared.client.query(
          'select max(rejected)::int as most from etl.chunk where file_id = $1',
          [prepared.file.id],
        );
        expect(rows).toEqual([{ most: Math.min(6, rejectsMax) }]);
        const bytes = prepared.file.bytes - prepared.file.dataByte;
        expect(prepared.reported()).toEqual({ bytes, records: 9, copied: 3, rejected: 6, filtered: 0 });
      });
    },
  );

  it('a text that its type cannot parse is a reject, though the server calls it an error of syntax or of a name', async () => {
    const content = `id,q\n1,a & b\n2,'x\n3,c |\n4,d\n`;
    for (const [type, lines] of [
      ['tsquery', [3, 4]],
      ['regtype', [2, 3, 4, 5]],
    ] as const) {
      const columns = { id: column.integer('id'), q: column.of(type, 'q') };
      await withChunkFile(database.url, { content, columns }, async (prepared) => {
        await loadAll(prepared);
        const rejects = await rejectsOf(prepared);
        expect(rejects.map(({ line, code }) => [line, code])).toEqual(lines.map((line) => [line, 'server']));
        expect(rejects[0]!.reason).toMatch(/^42/);
        expect(await stagingRows(prepared)).toHaveLength(4 - lines.length);
      });
    }
  });

  it('an error of the statement itself stays one, with no record at fault', async () => {
    const columns = { id: column.integer('id'), note: column.text('note') };
    await withChunkFile(database.url, { content: 'id,note\n1,a\n', columns }, async (prepared) => {
      await prepared.client.query(`alter table ${prepared.staging} drop column note`);
      await expect(loadChunk(prepared.load, startOf(prepared.file))).rejects.toMatchObject({ code: '42703' });
      expect(await rejectsOf(prepared)).toEqual([]);
    });
  });

  it('more refusals than the server has locks: all of them are rejects', async () => {
    const server = await startOwnServer({ max_connections: '20', max_locks_per_transaction: '10' });
    try {
      await ask(server.server.url, 'create domain even as integer check (value % 2 = 0)');
      const records = Array.from({ length: 3_000 }, (_, at) => `${at},${at % 2}`);
      const columns = { id: column.integer('id'), value: column.of('public.even', 'value') };
      const file = { content: `id,value\n${records.join('\n')}\n`, columns };
      await withChunkFile(server.server.url, file, async (prepared) => {
        await loadAll(prepared);
        expect(await rejectsOf(prepared)).toHaveLength(1_500);
        expect(await stagingRows(prepared)).toHaveLength(1_500);
      });
    } finally {
      await server.remove();
    }
  });

  it('a line over the bound never ends a chunk, so that its rest is not taken for a record', async () => {
    const content = `id,note\n1,a\n2,${'x'.repeat(2 * recordBytesMax)},3,b\n4,c\n`;
    await withChunkFile(database.url, { content, columns: typed, chunkBytes: 100_000 }, async (prepared) => {
      await loadAll(prepared);
      expect(await stagingRows(prepared)).toEqual([
        [1, 'a'],
        [4, 'c'],
      ]);
      expect(await rejectsOf(prepared)).toMatchObject([{ line: 3, record: 2, code: 'record_too_long' }]);
    });
  });

  it('a file that became shorter: ETL_SOURCE_CHANGED, and nothing of the chunk is kept', async () => {
    await withChunkFile(database.url, { content: 'id,note\n1,a\n', columns: typed }, async (prepared) => {
      const { load, file, client, reported } = prepared;
      await truncate(file.location, file.dataByte);
      await expect(loadChunk(load, startOf(file))).rejects.toMatchObject({ code: 'ETL_SOURCE_CHANGED' });
      expect((await client.query('select 1 from etl.chunk where file_id = $1', [file.id])).rows).toEqual([]);
      expect(reported()).toEqual({ bytes: 0, records: 0, copied: 0, rejected: 0, filtered: 0 });
    });
  });

  it('a function that throws in mid-COPY leaves the connection usable and nothing else', async () => {
    const columns = {
      id: column.integer('id').check((id) => {
        if (id === 5000) throw new RangeError('it broke');
        return true;
      }, 'never'),
    };
    const content = `id\n${Array.from({ length: 9000 }, (_, id) => `${id}\n`).join('')}`;
    await withChunkFile(database.url, { content, columns, chunkBytes: 4000 }, async (prepared) => {
      const { load, file } = prepared;
      // The first block is on its way to the server when the second fails.
      const wide = { ...load, source: { ...load.source, chunkBytes: 1_000_000 } };
      await expect(loadChunk(wide, startOf(file))).rejects.toMatchObject({
        code: 'ETL_USER_FUNCTION',
        details: { line: 5002 },
      });
      expect(await stagingRows(prepared)).toEqual([]);
      expect(prepared.reported()).toMatchObject({ bytes: 0, records: 0 });
    });
  });
});

describe('a chunk that the server refuses', () => {
  const numbered = (count: number, valueOf: (line: number) => string): string =>
    `id,value\n${Array.from({ length: count }, (_, index) => `${index + 2},${valueOf(index + 2)}\n`).join('')}`;

  /** As many columns as a table may have. */
  const widest = Array.from({ length: 1600 }, (_, index) => `c${index}`);

  const cases: readonly (ChunkFile & {
    name: string;
    bad: readonly number[];
    reason: string;
    column?: string;
  })[] = [
    {
      name: 'a type that only the server knows',
      columns: { id: column.integer('id'), value: column.of('inet', 'value') },
      content: numbered(500, (line) =>
        line === 100 || line === 101 || line === 500 ? 'nowhere' : '10.0.0.1',
      ),
      bad: [100, 101, 500],
      reason: '22P02',
      column: 'value',
    },
    {
      name: 'a domain with a check',
      columns: { id: column.integer('id'), value: column.of('public.even', 'value') },
      content: numbered(300, (line) => (line === 2 || line === 301 ? '7' : '8')),
      bad: [2, 301],
      reason: '23514',
      column: 'value',
    },
    {
      name: 'a domain whose check gives notices, of lines that are not refused',
      columns: { id: column.integer('id'), value: column.of('public.spoken', 'value') },
      content: numbered(300, (line) => (line === 2 || line === 301 ? '7' : '8')),
      bad: [2, 301],
      reason: '23514',
      column: 'value',
    },
    {
      name: 'a domain whose check silences notices',
      columns: { id: column.integer('id'), value: column.of('public.silenced', 'value') },
      content: numbered(300, (line) => (line === 2 || line === 301 ? '7' : '8')),
      bad: [2, 301],
      reason: '23514',
      column: 'value',
    },
    {
      name: 'a row that fits on no page of the server',
      columns: Object.fromEntries(widest.map((header) => [header, column.text(header).nullable()])),
      content: `${widest.join(',')}\n${[2, 3, 4]
        .map((line) => widest.map((_, index) => (index === 0 || line === 3 ? `${line}`.padEnd(10, 'x') : '')))
        .map((fields) => `${fields.join(',')}\n`)
        .join('')}`,
      bad: [3],
      reason: '54000 row is too big',
    },
    {
      name: 'a value that is nested deeper than the server has stack for',
      columns: { id: column.integer('id'), value: column.of('jsonb', 'value') },
      content: numbered(9, (line) =>
        line === 4 ? `${'['.repeat(100_000)}${']'.repeat(100_000)}` : `[${line}]`,
      ),
      bad: [4],
      reason: '54001',
      column: 'value',
    },
    {
      name: 'every record',
      columns: { id: column.integer('id'), value: column.of('inet', 'value') },
      content: numbered(20, () => 'nowhere'),
      bad: Array.from({ length: 20 }, (_, index) => index + 2),
      reason: '22P02',
      column: 'value',
    },
    {
      name: 'text staging: another number of fields',
      content: numbered(100, (line) => (line === 40 ? 'a,b' : 'a')).replace('60,a', '60'),
      bad: [40, 60],
      reason: '22P04',
    },
    {
      name: 'text staging: bytes that are not UTF-8',
      content: Buffer.concat([
        Buffer.from('id,value\n2,é\n3,'),
        Buffer.from('é\n', 'latin1'),
        Buffer.from('4,b\n'),
      ]),
      bad: [3],
      reason: '22021',
    },
    {
      name: 'text staging: a NUL byte',
      content: 'id,value\n2,a\n3,b\0c\n4,d\n',
      bad: [3],
      reason: '22021',
    },
  ];

  it.each(cases)(
    '$name: exactly the bad records are rejected',
    async ({ bad, reason, column: name = null, ...given }) => {
      for (const chunkBytes of [1024 * 1024, 700])
        await withChunkFile(database.url, { ...given, chunkBytes }, async (prepared) => {
          await loadAll(prepared);
          const rejects = await rejectsOf(prepared);
          expect(rejects.map(({ line }) => line)).toEqual(bad);
          for (const reject of rejects) {
            expect(reject).toMatchObject({
              code: 'server',
              column: name,
              record: reject.line - 1,
              reason: expect.stringContaining(reason),
            });
            expect(reject.raw.startsWith(`${reject.line}`)).toBe(true);
          }
          const total = prepared.reported().records;
          expect(prepared.reported()).toMatchObject({ copied: total - bad.length, rejected: bad.length });
          const lines = (await stagingRows(prepared)).map(([id]) => Number.parseInt(id as string, 10));
          const good = Array.from({ length: total }, (_, index) => index + 2).filter(
            (line) => !bad.includes(line),
          );
          expect(lines).toEqual(good);
        });
    },
  );

  it('records that we or the server refuse are kept in the order of the file', async () => {
    const content = 'id,value,other\nx,8,8\n2,7,9\n3,8,8\ny,7,8\n4,8,9\n';
    const columns = {
      id: column.integer('id'),
      value: column.of('public.even', 'value'),
      other: column.of('public.even', 'other'),
    };
    await withChunkFile(database.url, { content, columns }, async (prepared) => {
      await loadAll(prepared);
      expect((await rejectsOf(prepared)).map((one) => `${one.line} ${one.code} ${one.column}`)).toEqual([
        '2 type id',
        '3 server value',
        '5 type id',
        '6 server other',
      ]);
      expect(prepared.reported()).toMatchObject({ records: 5, copied: 1, rejected: 4 });
    });
  });
});
