// A database after the first night of a pipeline, of which each test gets a copy; and `etl` through a proxy, which is struck on its way.

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { killRest, runArgs, startEtl, type Ended, type Etl } from './fault-child.ts';
import { ask, copyDatabase, createDatabase, databaseUrlOf, dropDatabase } from './fault-database.ts';
import { expectNoSessions } from './fault-outcome.ts';
import { openProxy, type FaultProxy, type Point, type Strike, type Verdict } from './fault-proxy.ts';
import { startServer } from './fault-server.ts';

/** The nights' chunks are small, so that each has several. */
export const runNoaa = runArgs(4_000);

/** For the tests of a file or of a `describe`; `begin` makes the first night. */
export const useFirstNight = (begin: (database: string) => Promise<void>) => {
  const directory = mkdtempSync(join(tmpdir(), 'sluice-night-'));
  const made: string[] = [];
  let server: Awaited<ReturnType<typeof startServer>>;
  let proxy: FaultProxy;
  let firstNight = '';
  const urlOf = (database: string): string => databaseUrlOf(server.url, database);
  const etl = (database: string, args: readonly string[] = runNoaa): Etl => {
    const url = new URL(urlOf(database));
    url.port = String(proxy.port);
    return startEtl({ directory, url: url.href, args });
  };

  beforeAll(async () => {
    server = await startServer();
    proxy = await openProxy(Number(new URL(server.url).port));
    firstNight = await createDatabase(server.url);
    await begin(firstNight);
  });
  afterAll(async () => {
    killRest();
    await proxy.close();
    server = await startServer();
    for (const name of [...made, firstNight]) await dropDatabase(server.url, name);
    rmSync(directory, { recursive: true, force: true });
  });

  return {
    directory,
    write: (name: string, text: string): void => {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), text);
    },
    proxy: () => proxy,
    urlOf,
    ask: <Row extends object = Record<string, unknown>>(database: string, sql: string) =>
      ask<Row>(urlOf(database), sql),
    expectNoSessions: (database: string) => expectNoSessions(urlOf(database)),
    etl,
    copy: async (template = firstNight): Promise<string> => {
      await expectNoSessions(urlOf(template));
      const name = `${template}_${made.length}`;
      await copyDatabase(server.url, template, name);
      made.push(name);
      return name;
    },
    /** Runs `etl` to its end, and counts its effects. */
    countEffects: async (database: string, args: readonly string[] = runNoaa) => {
      const from = proxy.effects();
      const ended = await etl(database, args).ended;
      return { ended, effects: proxy.effects() - from };
    },
    /** Runs `etl`, and strikes at a point that it may reach or not. */
    runStruck: async (
      database: string,
      point: Point,
      strike: (child: Etl) => Strike,
      args: readonly string[] = runNoaa,
    ): Promise<{ ended: Ended; wasStruck: boolean }> => {
      let striking: Promise<Verdict> | undefined;
      proxy.arm(point, (effect, clientPort) => {
        striking = Promise.resolve(strike(child)(effect, clientPort));
        return striking;
      });
      const child = etl(database, args);
      const ended = await child.ended;
      proxy.disarm();
      await striking;
      return { ended, wasStruck: striking !== undefined };
    },
    /** A strike that ends the server, which nobody reaches until it is back. */
    crashServer: (restart: () => Promise<void>) => async (): Promise<'drop'> => {
      proxy.setMode('closing');
      await restart();
      proxy.setMode('open');
      return 'drop';
    },
  };
};
