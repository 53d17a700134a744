// The sockets of BullMQ's connections, so that we can end them if BullMQ cannot.

import { Socket } from 'node:net';

export interface SocketSet {
  /** Creates a socket of the set, for node-postgres' option `stream`. */
  readonly open: () => Socket;
  /** Resolves when all sockets are closed, so that the server has ended their sessions. */
  readonly closed: () => Promise<void>;
  /** Ends all sockets at once; later connection attempts fail. */
  readonly destroy: () => void;
}

/** Never connects. A pool calls `open` in callbacks, where a thrown error would end the process. */
const refusedSocket = (): Socket => {
  const socket = new Socket();
  socket.connect = () => socket.destroy(new Error('the queue is closed'));
  return socket;
};

export const createSocketSet = (): SocketSet => {
  const sockets = new Set<Socket>();
  let isOver = false;
  return {
    open: () => {
      // BullMQ reconnects even while it is being closed (test/services/queue-sockets.test.ts).
      if (isOver) return refusedSocket();
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    closed: async () => {
      await Promise.all(
        [...sockets].map((socket) => new Promise((resolve) => socket.once('close', resolve))),
      );
    },
    destroy: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
};
