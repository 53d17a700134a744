// Open connections that wait for their next use.

import { closeClient, destroyClient, isLost, type Client } from './client.ts';

export const createIdle = (idleMs: number) => {
  const idle: { readonly client: Client; readonly timer: NodeJS.Timeout }[] = [];
  let isClosed = false;
  const pop = (): Client | undefined => {
    const one = idle.pop();
    clearTimeout(one?.timer);
    if (one === undefined || !isLost(one.client)) return one?.client;
    void closeClient(one.client);
    return pop();
  };
  return {
    pop,
    push: async (client: Client): Promise<void> => {
      if (isClosed) return closeClient(client);
      const close = (): void => {
        idle.splice(idle.indexOf(one), 1);
        void closeClient(client);
      };
      const one = { client, timer: setTimeout(close, idleMs).unref() };
      idle.push(one);
      return undefined;
    },
    /** Without waiting for a server that does not answer. */
    drop: (): void => {
      for (const { client, timer } of idle.splice(0)) {
        clearTimeout(timer);
        destroyClient(client, new Error('no answer'));
      }
    },
    close: async (): Promise<void> => {
      isClosed = true;
      for (const { client, timer } of idle.splice(0)) {
        clearTimeout(timer);
        await closeClient(client);
      }
    },
  };
};
