// Starts the server of a cluster, and waits until it accepts connections.

import type { ChildProcess } from 'node:child_process';
import { readFile, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

import {
  embeddedLogBytesMax,
  embeddedLogLinesShown,
  embeddedOrphansTimeoutMs,
  embeddedPollIntervalMs,
  embeddedPortAttemptsMax,
  embeddedStartTimeoutMs,
} from '../../core/limits.ts';
import { ifPresent, replaceFile } from './files.ts';
import type { Cluster } from './cluster.ts';
import { choosePort, isFree } from './port.ts';
import { clearStrangersPidFile, endOrphans, findPostmaster, type Postmaster } from './postmaster.ts';
import { type Programs, spawnServer } from './programs.ts';
import { settingsName, settingsText } from './settings.ts';

const sizeOf = async (file: string): Promise<number> => (await ifPresent(stat(file)))?.size ?? 0;

const lastLines = async (logFile: string, fromByte: number): Promise<string> => {
  const log = (await readFile(logFile)).subarray(fromByte).toString();
  const lines = log.split('\n').filter((line) => line !== '');
  return lines.slice(-embeddedLogLinesShown).join('; ');
};

const notReady = (): Error =>
  new Error(`it is still not ready after ${embeddedStartTimeoutMs / 1000} s; check its log, then run again`);

/** Waits while a server starts, recovers or stops. Returns undefined if no server is running. */
export const settled = async (directory: string): Promise<Postmaster | undefined> => {
  const deadline = Date.now() + embeddedStartTimeoutMs;
  for (;;) {
    const found = await findPostmaster(directory);
    if (found === undefined || found.status === 'ready') return found;
    if (Date.now() > deadline) throw notReady();
    await sleep(embeddedPollIntervalMs);
  }
};

const readyOrEnded = async (child: ChildProcess, directory: string): Promise<Postmaster | undefined> => {
  const deadline = Date.now() + embeddedStartTimeoutMs;
  for (;;) {
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const found = await findPostmaster(directory);
    // On Windows the child is pg_ctl, which ends once the server is ready.
    const isChild = process.platform === 'win32' || found?.pid === child.pid;
    if (isChild && found?.status === 'ready') return found;
    if (hasEnded) return undefined;
    if (Date.now() > deadline) throw notReady();
    await sleep(embeddedPollIntervalMs);
  }
};

/**
 * Starts the server, on another port if the cluster's port is taken. Retries while children of a
 * killed server hold its shared memory, and once after any failure
 * (test/integration/unlogged.test.ts, "an unlogged table whose transaction was rolled back"). If it
 * fails, throws the last lines of the log.
 */
export const launch = async (
  programs: Programs,
  cluster: Cluster,
  logFile: string,
  settings: Readonly<Record<string, string>> | undefined,
): Promise<Postmaster> => {
  if ((await sizeOf(logFile)) > embeddedLogBytesMax) await rename(logFile, `${logFile}.old`);
  const wasKilled = await clearStrangersPidFile(cluster.directory);
  const orphansDeadline = Date.now() + embeddedOrphansTimeoutMs;
  for (let attempt = 1; ; attempt++) {
    if (wasKilled) endOrphans(cluster.directory);
    const port = await choosePort(cluster.port);
    await replaceFile(join(cluster.directory, settingsName), settingsText(port, settings), 0o644);
    const logStart = await sizeOf(logFile);
    const child = await spawnServer(programs, cluster.directory, logFile);
    const ready = await readyOrEnded(child, cluster.directory);
    if (ready) return ready;
    const isPortTaken = attempt < embeddedPortAttemptsMax && !(await isFree(port));
    const mayHaveOrphans = wasKilled && Date.now() < orphansDeadline;
    // The first attempt may fail in the recovery after a crash (see rehearse.ts).
    const isFirst = attempt === 1;
    if (!isPortTaken && !mayHaveOrphans && !isFirst) throw new Error(await lastLines(logFile, logStart));
    await sleep(embeddedPollIntervalMs);
  }
};
