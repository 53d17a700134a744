// The scene of a fault test: a database of its own behind a proxy, and a check that nothing is left over.

import { afterEach, beforeEach, expect, inject } from 'vitest';
import { killRest, runArgs, startEtl, type Ended, type Etl } from './fault-child.ts';
import { createDatabase, databaseUrlOf, dropDatabase } from './fault-database.ts';
import { expectNoSessions, expectWhole } from './fault-outcome.ts';
import { openProxy, type FaultProxy, type Point, type Strike, type Verdict } from './fault-proxy.ts';
import { startServer } from './fault-server.ts';
import type { FaultData } from './fault-setup.ts';

export interface Scene {
  readonly data: FaultData;
  readonly proxy: FaultProxy;
  /** The database, straight; and through the proxy. */
  readonly url: string;
  readonly proxyUrl: string;
  /** Starts any command of `etl` through the proxy. */
  readonly etl: (...args: readonly string[]) => Etl;
  /** Starts `etl run` through the proxy. */
  readonly start: (...args: readonly string[]) => Etl;
  /** Runs it to its end. */
  readonly run: (...args: readonly string[]) => Promise<Ended>;
  /** Runs it to its end, and strikes on the way; fails when the point is never reached. */
  readonly runStruck: (point: Point, strike: (child: Etl) => Strike) => Promise<Ended>;
  /** Production is that of an undisturbed run; nobody is connected; nothing is left over. */
  readonly expectWhole: () => Promise<void>;
  readonly close: () => Promise<void>;
}

/** Opens a scene; `directory` when not the data's own. */
export const openScene = async (data: FaultData, directory = data.directory): Promise<Scene> => {
  const server = await startServer();
  const database = await createDatabase(server.url);
  const proxy = await openProxy(Number(new URL(server.url).port));
  const url = databaseUrlOf(server.url, database);
  const through = new URL(url);
  through.port = String(proxy.port);
  const etl = (...args: readonly string[]): Etl => startEtl({ directory, url: through.href, args });
  const start = (...args: readonly string[]): Etl => etl(...runArgs(data.chunkBytes), ...args);
  const runStruck: Scene['runStruck'] = async (point, strike) => {
    let striking: Promise<Verdict> | undefined;
    proxy.arm(point, (effect, clientPort) => {
      striking = Promise.resolve(strike(child)(effect, clientPort));
      return striking;
    });
    const child = start();
    const ended = await child.ended;
    proxy.disarm();
    if (striking === undefined) throw new Error(`${point.name} was never reached: ${ended.said}`);
    await striking;
    return ended;
  };
  return {
    data,
    proxy,
    url,
    proxyUrl: through.href,
    etl,
    start,
    run: (...args) => start(...args).ended,
    runStruck,
    expectWhole: async () => {
      await expectNoSessions(url);
      await expectWhole(url, data.outcome);
    },
    close: async () => {
      await proxy.close();
      await startServer();
      await dropDatabase(server.url, database);
    },
  };
};

/** A scene for each test of a file, with small files. */
export const useScene = (
  data: 'smallData' | 'briefData' | 'directData' | 'httpData' | 'bucketData' = 'smallData',
): (() => Scene) => {
  let scene: Scene | undefined;
  beforeEach(async () => {
    scene = await openScene(inject(data));
  });
  afterEach(async () => {
    const rest = killRest();
    await scene?.close();
    scene = undefined;
    expect(rest, 'processes left over').toBe(0);
  });
  return () => scene!;
};

/** Kills the process at the very place. */
export const killChild =
  (child: Etl): Strike =>
  () => {
    child.kill('SIGKILL');
    return 'drop';
  };
