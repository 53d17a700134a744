// A TCP proxy between a client and PostgreSQL that counts effects, and strikes just before or just after one of them.

import { createServer, connect, type AddressInfo, type Socket } from 'node:net';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { createMessageReader, createReadyCounter, type Effect, type Piece } from './fault-messages.ts';

/** A place in a run: the `nth` effect that matches, before it reaches the server or after the server has answered. */
export interface Point {
  readonly name: string;
  readonly when: 'before' | 'after';
  readonly nth: number;
  readonly matches: (effect: Effect) => boolean;
}

/** What happens to the effect, or to its answer, once it is struck. */
export type Verdict = 'drop' | 'forward';

/** Called with the effect and the port by which the server knows its connection (pg_stat_activity.client_port). */
export type Strike = (effect: Effect, clientPort: number) => Verdict | Promise<Verdict>;

/** open: forwards · closing: takes connections and ends them · silent: takes them and forwards nothing. */
type Mode = 'open' | 'closing' | 'silent';

export interface FaultProxy {
  readonly port: number;
  /** Effects since the proxy was made. */
  readonly effects: () => number;
  /** How often a client has waited for an answer since the proxy was made; queries sent together count once. */
  readonly roundTrips: () => number;
  /** Waits for a point. Only one is armed at a time. */
  readonly arm: (point: Point, strike: Strike) => void;
  readonly disarm: () => void;
  /** Every answer takes this much longer, as from a distant server. */
  readonly delayAnswers: (ms: number) => void;
  /** Clients get no answer before this is over. */
  readonly holdAnswers: (until: Promise<unknown>) => void;
  /** What new connections meet. */
  readonly setMode: (mode: Mode) => void;
  /** From now on, connections that exist forward nothing in either direction, and stay open. */
  readonly silenceAll: () => void;
  /** Ends every connection, without a word to either side. */
  readonly cutAll: () => void;
  /** Ends the silent ones at last, as a server's keepalive does. */
  readonly endSilent: () => void;
  readonly close: () => Promise<void>;
}

interface Armed {
  readonly point: Point;
  readonly strike: Strike;
  seen: number;
}

interface Connection {
  readonly client: Socket;
  readonly server: Socket;
  isSilent: boolean;
  /** Collects the answers up to the one to an effect; called when that is whole. */
  onAnswer: (() => Promise<void>) | undefined;
  answer: Buffer[];
  /** Answers that the server owes; of them, those up to the effect's own. */
  owed: number;
  awaited: number;
  /** True while the last bytes came from the server. */
  isAnswered: boolean;
}

const write = async (socket: Socket, bytes: Buffer): Promise<void> => {
  if (!socket.destroyed && !socket.write(bytes))
    await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
};

const never = (): Promise<never> => new Promise(() => undefined);

const drop = ({ client, server }: Connection): void => {
  client.destroy();
  server.destroy();
};

/** A loopback proxy in front of the server on `serverPort`; it outlives restarts of that server. */
export const openProxy = async (serverPort: number): Promise<FaultProxy> => {
  const connections = new Set<Connection>();
  let effects = 0;
  let roundTrips = 0;
  let armed: Armed | undefined;
  let mode: Mode = 'open';
  let delayMs = 0;
  let held: Promise<unknown> = Promise.resolve();

  /** The armed point, if this effect is the one it waits for. */
  const struckBy = (effect: Effect): Armed | undefined => {
    effects += 1;
    if (armed === undefined || !armed.point.matches(effect)) return undefined;
    armed.seen += 1;
    if (armed.seen < armed.point.nth) return undefined;
    const found = armed;
    armed = undefined;
    return found;
  };

  const strikeNow = async (connection: Connection, { strike }: Armed, effect: Effect): Promise<void> => {
    const verdict = await strike(effect, connection.server.localPort ?? 0);
    if (verdict === 'drop') drop(connection);
  };

  const forward = async (connection: Connection, { bytes, effect, asks }: Piece): Promise<void> => {
    const hit = effect === undefined ? undefined : struckBy(effect);
    if (hit?.point.when === 'before') await strikeNow(connection, hit, effect!);
    if (hit?.point.when === 'after') {
      // A query, or the sync behind an execution, is answered itself; the end of a COPY ends its query's answer.
      connection.awaited = connection.owed + (effect!.kind.startsWith('copy') ? 0 : 1);
      connection.onAnswer = () => strikeNow(connection, hit, effect!);
    }
    if (asks) connection.owed += 1;
    if (connection.isSilent) await never();
    await write(connection.server, bytes);
  };

  const fromClient = async (connection: Connection): Promise<void> => {
    const read = createMessageReader();
    for await (const chunk of connection.client) {
      if (connection.isAnswered) roundTrips += 1;
      connection.isAnswered = false;
      for (const piece of read(chunk as Buffer)) await forward(connection, piece);
    }
  };

  const fromServer = async (connection: Connection): Promise<void> => {
    const countReady = createReadyCounter();
    for await (const chunk of connection.server) {
      await held;
      if (delayMs > 0) await sleep(delayMs);
      if (connection.isSilent) await never();
      connection.isAnswered = true;
      connection.answer.push(chunk as Buffer);
      const ready = countReady(chunk as Buffer);
      connection.owed -= ready;
      connection.awaited -= ready;
      if (connection.onAnswer !== undefined) {
        if (connection.awaited > 0) continue;
        await connection.onAnswer();
        connection.onAnswer = undefined;
      }
      const bytes = Buffer.concat(connection.answer.splice(0));
      await write(connection.client, bytes);
    }
  };

  const serve = (client: Socket): void => {
    if (mode === 'closing') {
      client.destroy();
      return;
    }
    const server = connect(serverPort, '127.0.0.1');
    const connection: Connection = {
      client,
      server,
      isSilent: mode === 'silent',
      onAnswer: undefined,
      answer: [],
      owed: 0,
      awaited: 0,
      isAnswered: true,
    };
    connections.add(connection);
    const end = (): void => {
      drop(connection);
      connections.delete(connection);
    };
    for (const socket of [client, server]) {
      socket.setNoDelay(true);
      // A peer that was killed is what this is for.
      socket.on('error', () => undefined);
      socket.once('close', () => {
        if (!connection.isSilent) end();
      });
    }
    fromClient(connection)
      .catch(() => undefined)
      .finally(() => server.end());
    fromServer(connection)
      .catch(() => undefined)
      .finally(() => client.end());
  };

  const listener = createServer(serve).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    port: (listener.address() as AddressInfo).port,
    effects: () => effects,
    roundTrips: () => roundTrips,
    arm: (point, strike) => (armed = { point, strike, seen: 0 }),
    disarm: () => (armed = undefined),
    delayAnswers: (ms) => void (delayMs = ms),
    holdAnswers: (until) => {
      held = until;
    },
    setMode: (next) => (mode = next),
    silenceAll: () => {
      for (const connection of connections) connection.isSilent = true;
    },
    cutAll: () => {
      for (const connection of connections) drop(connection);
    },
    endSilent: () => {
      for (const connection of connections) if (connection.isSilent) drop(connection);
    },
    close: async () => {
      for (const connection of connections) drop(connection);
      listener.close();
      await once(listener, 'close');
    },
  };
};

/**
 * Runs something with the URL of a proxy, and lets somebody act just before (or after) the first statement
 * that matches. Fails when nobody acted.
 */
export const runWhile = async <T>(
  databaseUrl: string,
  matches: Point['matches'],
  act: (proxy: FaultProxy) => Promise<unknown>,
  run: (url: string) => Promise<T>,
  when: Point['when'] = 'before',
): Promise<T> => {
  const url = new URL(databaseUrl);
  const proxy = await openProxy(Number(url.port));
  url.port = String(proxy.port);
  let hasActed = false;
  proxy.arm({ name: 'somebody', when, nth: 1, matches }, async () => {
    hasActed = true;
    await act(proxy);
    return 'forward' as const;
  });
  try {
    const result = await run(url.href);
    if (!hasActed) throw new Error('the statement never came');
    return result;
  } finally {
    await proxy.close();
  }
};

/** Runs something with the URL of a proxy; returns every effect, in order. */
export const effectsOf = async (
  databaseUrl: string,
  run: (url: string) => Promise<unknown>,
): Promise<readonly Effect[]> => {
  const url = new URL(databaseUrl);
  const proxy = await openProxy(Number(url.port));
  url.port = String(proxy.port);
  const effects: Effect[] = [];
  const matches = (effect: Effect): boolean => {
    effects.push(effect);
    return false;
  };
  proxy.arm({ name: 'none', when: 'before', nth: 1, matches }, () => 'forward');
  try {
    await run(url.href);
    return effects;
  } finally {
    await proxy.close();
  }
};
