// The sockets of BullMQ's connections, so that they can be ended when BullMQ cannot end them itself.

import { Socket } from 'node:net';

export interface SocketSet {
  /** For node-postgres' `stream` option: makes a socket that belongs to the set. */
  readonly open: () => Socket;
  /** Ends all of them at once, and refuses to open more. */
  readonly destroy: () => void;
}

export const createSocketSet = (): SocketSet => {
  const sockets = new Set<Socket>();
  let isOver = false;
  return {
    open: () => {
      // BullMQ goes on trying to reach a server that is gone, also while it is being closed.
      if (isOver) throw new Error('the queue is closed');
      const socket = new Socket();
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      return socket;
    },
    destroy: () => {
      isOver = true;
      for (const socket of sockets) socket.destroy();
    },
  };
};
