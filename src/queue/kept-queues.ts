// Queues that stay open between their uses.

import type { Queue } from 'bullmq';
import type { QueueLink } from './backend.ts';

export interface OpenQueue {
  readonly bull: Queue;
  readonly link: QueueLink;
  readonly close: () => Promise<void>;
}

interface Kept {
  readonly opened: Promise<OpenQueue>;
  users: number;
}

export interface KeptQueues {
  /** Uses the queue of this name, which `open` opens if it is not open already. */
  readonly use: <T>(
    name: string,
    open: () => Promise<OpenQueue>,
    work: (queue: OpenQueue) => Promise<T>,
  ) => Promise<T>;
  readonly close: () => Promise<void>;
}

/** A queue whose use failed or whose connection ended is closed when its last user is done. */
export const keepQueues = (onFailed: () => void): KeptQueues => {
  const kept = new Map<string, Kept>();
  const closing = new Set<Promise<void>>();
  let isClosed = false;
  const closeOne = ({ opened }: Kept): void => {
    const closed = opened
      .then(
        ({ close }) => close(),
        () => undefined,
      )
      .finally(() => closing.delete(closed));
    closing.add(closed);
  };
  const forget = (name: string, one: Kept): void => {
    if (kept.get(name) === one) kept.delete(name);
  };
  const find = async (name: string, open: () => Promise<OpenQueue>): Promise<Kept> => {
    const found = kept.get(name);
    if (found === undefined) {
      const opened = { opened: open(), users: 1 };
      if (!isClosed) kept.set(name, opened);
      return opened;
    }
    found.users += 1;
    const isOpen = await found.opened.then(
      ({ link }) => link.isOpen(),
      () => false,
    );
    if (isOpen) return found;
    forget(name, found);
    leave(name, found);
    return find(name, open);
  };
  /** Does not wait for the end of a lost connection, which takes seconds. */
  const leave = (name: string, one: Kept): void => {
    one.users -= 1;
    if (one.users === 0 && kept.get(name) !== one) closeOne(one);
  };
  return {
    use: async (name, open, work) => {
      const one = await find(name, open);
      try {
        return await work(await one.opened);
      } catch (error) {
        forget(name, one);
        onFailed();
        throw error;
      } finally {
        leave(name, one);
      }
    },
    close: async () => {
      isClosed = true;
      for (const one of kept.values()) if (one.users === 0) closeOne(one);
      kept.clear();
      await Promise.all(closing);
    },
  };
};
