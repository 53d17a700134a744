// Finds a port of 127.0.0.1 for the embedded server, and checks if a port answers.

import { randomInt } from 'node:crypto';
import { connect, createServer } from 'node:net';

import { codeOf } from '../../core/errors/errors.ts';
import {
  connectTimeoutMs,
  embeddedPortAttemptsMax,
  embeddedPortMax,
  embeddedPortMin,
} from '../../core/limits.ts';

export const host = '127.0.0.1';

export const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error) => {
      const code = codeOf(error);
      if (code === 'EADDRINUSE' || code === 'EACCES') resolve(false);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(true)));
  });

export const answers = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ port, host, timeout: connectTimeoutMs });
    const finish = (answered: boolean) => {
      socket.destroy();
      resolve(answered);
    };
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
    socket.once('timeout', () => finish(false));
  });

export const choosePort = async (wanted?: number): Promise<number> => {
  if (wanted !== undefined && (await isFree(wanted))) return wanted;
  for (let attempt = 0; attempt < embeddedPortAttemptsMax; attempt++) {
    const port = randomInt(embeddedPortMin, embeddedPortMax + 1);
    if (await isFree(port)) return port;
  }
  throw new Error(`no free port on ${host} between ${embeddedPortMin} and ${embeddedPortMax}`);
};
