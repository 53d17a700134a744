// Sessions end and servers restart, with and without a crash: only a crash costs chunks.

import { describe, expect, it } from 'vitest';
import { buildPoints, loadPoints } from '../helpers/fault-points.ts';
import type { Point } from '../helpers/fault-proxy.ts';
import { expectKept, expectRecovered, expectReplaced, runThrough } from '../helpers/fault-recovery.ts';
import { useScene } from '../helpers/fault-scene.ts';
import {
  killBackend,
  restarts,
  terminateBackend,
  terminateCoordinator,
  untilReady,
} from '../helpers/fault-server.ts';

const scene = useScene();

/** What happens, given the port of the struck connection. */
type Blow = (clientPort: number) => Promise<void>;

const kill: Blow = async (clientPort) => {
  await killBackend(scene().url, clientPort);
  await untilReady(scene().url);
};
const terminate: Blow = (clientPort) => terminateBackend(scene().url, clientPort);
const terminateHolder: Blow = () => terminateCoordinator(scene().url);

const midCopy = loadPoints.find(({ name }) => name === 'before a COPY in the middle ends')!;
const midBuild = buildPoints.find(({ name }) => name === 'before an index is built')!;

const crashes: [string, Point, Blow][] = [
  ['the backend of a loader is killed', midCopy, kill],
  ['the backend of the coordinator is killed', midBuild, kill],
  ['immediate stop in mid-COPY', midCopy, restarts['immediate stop']],
  ['immediate stop while an index is built', midBuild, restarts['immediate stop']],
];

const cleanEnds: [string, Point, Blow][] = [
  ['the session of a loader is terminated', midCopy, terminate],
  ['the session of the coordinator is terminated while others load', midCopy, terminateHolder],
  ['the session of the coordinator is terminated while it builds', midBuild, terminate],
  ['fast restart in mid-COPY', midCopy, restarts['fast restart']],
  ['fast restart while an index is built', midBuild, restarts['fast restart']],
];

describe('a crash', () => {
  it.each(crashes)('%s: the lost chunks are loaded again', async (_, point, blow) => {
    const { ended, chunks: lost } = await runThrough(scene(), point, { blow });
    expectRecovered(ended, true, lost);
    expect(lost.length).toBeGreaterThan(0);
    await expectReplaced(scene(), lost);
    await scene().expectWhole();
  });
});

describe('no crash', () => {
  it.each(cleanEnds)('%s: nothing is loaded again', async (_, point, blow) => {
    const { ended, chunks: kept } = await runThrough(scene(), point, { blow, verdict: 'forward' });
    expectRecovered(ended, false, []);
    expect(kept.length).toBeGreaterThan(0);
    await expectKept(scene(), kept);
    await scene().expectWhole();
  });
});
