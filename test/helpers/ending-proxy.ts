// A TCP proxy before PostgreSQL that ends chosen connections as the server does when it stops: an ErrorResponse, then nothing.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Of which connection, from 1, the error comes: in place of the server's first word, or right after its first ReadyForQuery. */
export interface Ending {
  readonly connection: number;
  readonly sqlstate: string;
  readonly when: 'at startup' | 'when ready';
}

export interface EndingProxy {
  readonly urlOf: (databaseUrl: string) => string;
  /** Counts connections from 1 again. */
  readonly end: (ending: Ending) => void;
  /** Connections since then. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

/** "Message Formats", ErrorResponse: severity twice, SQLSTATE, message; each field ends with a zero, and so does the list. */
const errorResponse = (sqlstate: string): Buffer => {
  const body = Buffer.from(`SFATAL\0VFATAL\0C${sqlstate}\0Mthe server says ${sqlstate}\0\0`);
  const header = Buffer.from('E0000');
  header.writeUInt32BE(body.length + 4, 1);
  return Buffer.concat([header, body]);
};

/** ReadyForQuery: 'Z', length 5, state. */
const endsReady = (bytes: Buffer): boolean => bytes.subarray(-6, -1).equals(Buffer.from('Z\0\0\0\x05'));

/** A proxy in front of the server on `serverPort`. */
export const openEndingProxy = async (serverPort: number): Promise<EndingProxy> => {
  let ending: Ending | undefined;
  let connections = 0;
  const sockets = new Set<Socket>();
  const serve = (client: Socket): void => {
    connections += 1;
    const struck = ending?.connection === connections ? ending : undefined;
    if (struck?.when === 'at startup') {
      client.once('data', () => client.end(errorResponse(struck.sqlstate)));
      client.on('error', () => undefined);
      return;
    }
    const server = connect(serverPort, '127.0.0.1');
    for (const socket of [client, server]) {
      sockets.add(socket);
      socket.on('error', () => undefined);
      socket.once('close', () => {
        sockets.delete(socket);
        client.destroy();
        server.destroy();
      });
    }
    client.pipe(server);
    server.on('data', (bytes: Buffer) => {
      if (struck === undefined || !endsReady(bytes)) client.write(bytes);
      // In one write, so that both are read at once.
      else client.end(Buffer.concat([bytes, errorResponse(struck.sqlstate)]));
    });
  };
  const listener = createServer(serve).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  return {
    urlOf: (databaseUrl) => {
      const url = new URL(databaseUrl);
      [url.hostname, url.port] = ['127.0.0.1', String((listener.address() as AddressInfo).port)];
      return url.href;
    },
    end: (next) => {
      ending = next;
      connections = 0;
    },
    connections: () => connections,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
      await once(listener, 'close');
    },
  };
};
