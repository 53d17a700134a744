// The sockets of BullMQ's connections, so that they can be ended when BullMQ cannot end them itself.

import { Socket } from 'node:net';

export interface SocketSet {
  /** For node-postgres' `stream` option: makes a socket that belongs to the set. */
  readonly open: () => Socket;
  /** Once those that were ended are closed: the server has let go of their sessions by then. */
  readonly closed: () => Promise<void>;
  /** Ends all of them at once; those that are asked for later fail to connect. */
  readonly destroy: () => void;
}

/** A socket that never connects. A pool makes sockets in callbacks, where a thrown error would end the process. */
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
      // BullMQ goes on trying to reach a server that is gone, also while it is being closed.
      // Proved by test/services/queue-sockets.test.ts.
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
