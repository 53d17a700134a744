// A server at a distance: a proxy on loopback that forwards what it gets half of a round trip later, and counts.

import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/** Opens a way to the server of this URL that adds so many milliseconds to a round trip; 0 adds the proxy's own work only. */
export const openDistance = async (serverUrl: string, roundTripMs: number) => {
  const sockets = new Set<Socket>();
  /** Answers of the server to something that was sent to it, and bytes sent, over all connections. */
  const counts = { roundTrips: 0, sentBytes: 0 };
  const later = (from: Socket, to: Socket): void => {
    sockets.add(from);
    from.setNoDelay(true);
    from.on('data', (bytes) => setTimeout(() => to.destroyed || to.write(bytes), roundTripMs / 2));
    from.on('close', () => setTimeout(() => to.destroy(), roundTripMs / 2));
    from.on('error', () => undefined);
  };
  const listener = createServer((client) => {
    const server = connect(Number(new URL(serverUrl).port), '127.0.0.1');
    let isAsked = false;
    client.on('data', (bytes) => {
      isAsked = true;
      counts.sentBytes += bytes.length;
    });
    server.on('data', () => {
      counts.roundTrips += Number(isAsked);
      isAsked = false;
    });
    later(client, server);
    later(server, client);
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = new URL(serverUrl);
  url.hostname = '127.0.0.1';
  url.port = String((listener.address() as AddressInfo).port);
  return {
    url: url.href,
    counts,
    close: () => {
      for (const socket of sockets) socket.destroy();
      listener.close();
    },
  };
};
