// COPY on a real server: rows come back as they were, and a failure leaves the connection usable.

import { describe, expect, it } from 'vitest';
import { copyIn } from '../../src/load/chunk/copy-in.ts';
import { encodeTextRow } from '../../src/load/chunk/encode-text.ts';
import { copyText, stagingTable } from '../../src/db/staging.ts';
import { addressFromUrl } from '../../src/db/connect/address.ts';
import { withClient, withTransaction } from '../../src/db/client.ts';
import { useDatabase } from '../helpers/server.ts';

const database = useDatabase();

describe('copyIn', () => {
  it('bytes that end in an error: nothing is kept, and the connection is usable', async () => {
    await withClient(addressFromUrl(database.url), async (client) => {
      await client.query('create table public.kept (a text)');
      async function* failing(): AsyncGenerator<Buffer, void> {
        yield Buffer.from('a\n'.repeat(100_000));
        throw new RangeError('it broke');
      }
      const copying = withTransaction(client, () => copyIn(client, 'copy public.kept from stdin', failing()));
      await expect(copying).rejects.toThrow(RangeError);
      expect((await client.query('select 1 from public.kept')).rows).toEqual([]);
      async function* fine(): AsyncGenerator<Buffer, void> {
        yield Buffer.from('a\nb');
        yield Buffer.from('\n');
      }
      expect(await copyIn(client, 'copy public.kept from stdin', fine())).toBe(2);
    });
  });

  it('pieces of all sizes whose memory is used again: every row arrives', async () => {
    const sizes = [1, 7_000, 9_000, 200_000, 3, 1, 9_362, 100_000, 2, 50_000, 5];
    const memory = Buffer.alloc(7 * Math.max(...sizes));
    await withClient(addressFromUrl(database.url), async (client) => {
      await client.query('create table public.reused (n integer)');
      async function* reusing(): AsyncGenerator<Buffer, void> {
        for (const [piece, rows] of sizes.entries()) {
          const lines = `${100_000 + piece}\n`.repeat(rows);
          yield memory.subarray(0, memory.write(lines, 'latin1'));
        }
      }
      await copyIn(client, 'copy public.reused from stdin', reusing());
      const { rows } = await client.query('select count(*)::int from public.reused group by n order by n');
      expect(rows.map(({ count }) => count)).toEqual(sizes);
    });
  });

  it('statements ahead of it: their rows are judged before any byte counts, and a refusal leaves nothing', async () => {
    async function* rows(): AsyncGenerator<Buffer, void> {
      yield Buffer.from('1\n2\n');
    }
    const seen: unknown[] = [];
    await withClient(addressFromUrl(database.url), async (client) => {
      await client.query('create table public.judged (n integer)');
      const copying = (isRefused: boolean): Promise<number> =>
        copyIn(client, 'copy public.judged from stdin', rows(), undefined, {
          statements: [
            { text: 'begin' },
            { text: 'select $1::text as word, null as nothing', values: ["it's"] },
            { text: 'select n from public.judged' },
          ],
          judge: (results) => {
            seen.push(results.map((result) => result.rows));
            if (isRefused) throw new RangeError('refused');
          },
        });
      await expect(copying(true)).rejects.toThrow(RangeError);
      await client.query('rollback');
      expect(await copying(false)).toBe(2);
      await client.query('commit');
      expect(seen).toEqual([
        [[{ word: "it's", nothing: null }], []],
        [[{ word: "it's", nothing: null }], []],
      ]);
      expect((await client.query('select n from public.judged')).rows).toEqual([{ n: 1 }, { n: 2 }]);
    });
  });

  it('a statement ahead of it that fails: its error is passed on, and the connection is usable', async () => {
    async function* rows(): AsyncGenerator<Buffer, void> {
      yield Buffer.alloc(300_000, '1\n');
    }
    await withClient(addressFromUrl(database.url), async (client) => {
      const judge = (): never => expect.unreachable('the COPY never began');
      const failing = copyIn(client, 'copy public.judged from stdin', rows(), undefined, {
        statements: [{ text: 'begin' }, { text: 'select 1 / 0 as none' }],
        judge,
      });
      await expect(failing).rejects.toMatchObject({ code: '22012' });
      await client.query('rollback');
      expect((await client.query('select count(*)::int as n from public.judged')).rows).toEqual([{ n: 2 }]);
    });
  });

  it('rows of encodeTextRow come back from the server as they were', async () => {
    const values = [
      '',
      ' ',
      '\\',
      '\\N',
      '\\.',
      '\t',
      '\n',
      '\r',
      '\r\n',
      '\\t',
      '\b\f\v\u0001\u007f',
      'é€𝄞',
      '"',
      ',',
      'a\tb\\c\nd',
      'NULL',
    ];
    const rows = values.flatMap((a) => values.map((b): (string | null)[] => [a, b, null]));
    await withClient(addressFromUrl(database.url), async (client) => {
      await client.query('create schema if not exists etl_staging');
      await client.query('create table etl_staging.round__trip (a text, b text, c text, place serial)');
      const columns = ['a', 'b', 'c'].map((name) => ({ name, type: 'text' }));
      async function* encoded(): AsyncGenerator<Buffer, void> {
        yield Buffer.from(rows.map(encodeTextRow).join(''));
      }
      expect(await copyIn(client, copyText(stagingTable('round', 'trip'), columns), encoded())).toBe(
        rows.length,
      );
      const text = 'select a, b, c from etl_staging.round__trip order by place';
      expect((await client.query({ text, rowMode: 'array' })).rows).toEqual(rows);
    });
  });
});
