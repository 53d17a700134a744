// Being asked to stop while something is measured.

/**
 * Rejects at the first SIGINT or SIGTERM. Further ones do nothing: npm hands a signal on that the terminal has sent already, and
 * the second one must not end us before the servers that we started.
 */
export const interruption = (): Promise<never> => {
  const interrupted = new Promise<never>((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM'] as const)
      process.on(signal, () => reject(new Error(`stopped by ${signal}`)));
  });
  // It may come while a server starts, when nobody waits for it yet.
  interrupted.catch(() => undefined);
  return interrupted;
};
