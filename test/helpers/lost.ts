// What a statement of a reader fails with when its server is killed: the session is over, or there is none to be had.

const lostCodes = new Set(['57P01', '57P02', '57P03', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

export const isLost = (error: unknown): boolean => {
  const { code, message } = error as Error & { code?: string };
  return code === undefined ? /terminated|not queryable/.test(message) : lostCodes.has(code);
};
