// Finds out if real processes exist.

import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { isRunning } from '../../../src/core/running.ts';

it.each([
  { name: 'this process', pid: process.pid, running: true },
  { name: 'one that may be somebody else’s', pid: 1, running: true },
  { name: 'one that has ended', pid: spawnSync(process.execPath, ['--version']).pid, running: false },
])('$name: $running', ({ pid, running }) => expect(isRunning(pid)).toBe(running));
