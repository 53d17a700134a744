// Lets only one process at a time start or stop the embedded server of a directory.

import { linkSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

import { codeOf } from '../../core/errors/errors.ts';
import { embeddedLockTimeoutMs, embeddedPollIntervalMs } from '../../core/limits.ts';
import { identityOf } from './process.ts';

const readHolder = (file: string): string | undefined => {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
};

/** Takes the lock by linking a complete file to its final name; fails if the name exists. */
const tryLock = (file: string, holder: string): boolean => {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(aside, holder, { flag: 'wx' });
  try {
    linkSync(aside, file);
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  } finally {
    rmSync(aside, { force: true });
  }
};

/** Removes a dead process's lock. Restores the lock if another process has replaced it. */
const removeStale = (file: string, stale: string): void => {
  const aside = `${file}.${randomBytes(6).toString('hex')}`;
  try {
    renameSync(file, aside);
    if (readFileSync(aside, 'utf8') !== stale) linkSync(aside, file);
  } catch (error) {
    if (codeOf(error) !== 'ENOENT' && codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(aside, { force: true });
  }
};

const isHeldBy = (holder: string): boolean => identityOf(Number.parseInt(holder, 10)) === holder;

export const withLock = async <T>(file: string, work: () => Promise<T>): Promise<T> => {
  const self = identityOf(process.pid) ?? String(process.pid);
  const deadline = Date.now() + embeddedLockTimeoutMs;
  while (!tryLock(file, self)) {
    const holder = readHolder(file);
    if (holder === undefined) continue;
    if (!isHeldBy(holder)) {
      removeStale(file, holder);
      continue;
    }
    if (Date.now() > deadline) {
      throw new Error(
        `process ${Number.parseInt(holder, 10)} has held ${file} for too long; end it, or remove the file`,
      );
    }
    await sleep(embeddedPollIntervalMs);
  }
  try {
    return await work();
  } finally {
    if (readHolder(file) === self) rmSync(file, { force: true });
  }
};
