// A Redis of a test's own, on a loopback port and in a temporary directory; killed, emptied and started again at will.

import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Redis, type RedisOptions as ClientOptions } from 'ioredis';

/** Whether the tests that need it can run; in CI they must. */
export const hasRedis =
  process.env['CI'] !== undefined || spawnSync('redis-server', ['--version']).status === 0;

/** A port that nobody listens on now. */
export const freePort = async (): Promise<number> => {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as { port: number };
  server.close();
  await once(server, 'close');
  return port;
};

export interface RedisServer {
  readonly port: number;
  readonly directory: string;
  readonly url: string;
  /** Starts it again on the same port; it keeps nothing. */
  readonly start: () => Promise<void>;
  /** Signals the process; a signal that ends it is waited for. */
  readonly signal: (signal: NodeJS.Signals) => Promise<void>;
  /** One command, over a connection of its own. */
  readonly command: (name: string, ...given: readonly string[]) => Promise<unknown>;
  readonly stop: () => Promise<void>;
}

interface Given {
  readonly args?: readonly string[];
  readonly client?: ClientOptions;
  /** The port that plain or TLS connections come to. */
  readonly portFlag?: 'port' | 'tls-port';
  readonly directory?: string;
}

const ask = async (options: ClientOptions, name: string, given: readonly string[]): Promise<unknown> => {
  const client = new Redis({ host: '127.0.0.1', retryStrategy: () => null, ...options });
  client.on('error', () => undefined);
  try {
    return await client.call(name, ...given);
  } finally {
    client.disconnect();
  }
};

/** Starts a server that saves nothing to disk. */
export const startRedis = async ({
  args = [],
  client = {},
  portFlag = 'port',
  directory = mkdtempSync(join(tmpdir(), 'sluice-redis-')),
}: Given = {}): Promise<RedisServer> => {
  const port = await freePort();
  let child: ChildProcess | undefined;
  const command: RedisServer['command'] = (name, ...given) => ask({ port, ...client }, name, given);
  const isAlive = (): boolean => child?.exitCode === null && child.signalCode === null;
  const start = async (): Promise<void> => {
    const plain = portFlag === 'port' ? [] : ['--port', '0'];
    const settings = ['--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', directory];
    child = spawn('redis-server', [...args, ...plain, `--${portFlag}`, String(port), ...settings], {
      stdio: 'ignore',
    });
    child.on('error', () => undefined);
    while ((await command('ping').catch(() => undefined)) !== 'PONG') {
      if (!isAlive()) throw new Error('redis-server does not start: apt-get install redis-server');
      await sleep(20);
    }
  };
  const signal: RedisServer['signal'] = async (name) => {
    const gone = once(child!, 'exit');
    child!.kill(name);
    if (name === 'SIGKILL' || name === 'SIGTERM') await gone;
  };
  const stop = async (): Promise<void> => {
    if (isAlive()) await signal('SIGKILL');
    rmSync(directory, { recursive: true, force: true });
  };
  try {
    await start();
  } catch (error) {
    await stop();
    throw error;
  }
  return { port, directory, url: `redis://127.0.0.1:${port}`, start, signal, command, stop };
};
