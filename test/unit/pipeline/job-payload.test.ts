// Data of jobs is checked strictly when a job is received.

import { describe, expect, it } from 'vitest';
import { readRunRequest, readSegmentJob } from '../../../src/pipeline/job-payload.ts';

const request = {
  pipeline: 'noaa',
  definition: 'a'.repeat(64),
  params: { year: '2011', months: [1, 2], note: 'a backslash \\u0000 and 𝄞' },
  options: { fresh: false, fullRefresh: true, resume: false, allowShrink: [] },
};

describe('readRunRequest', () => {
  const trace = { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-01`, tracestate: 'vendor=x' };

  it('takes what enqueue writes', () => expect(readRunRequest(request, 'run-1')).toEqual(request));

  it('takes the trace that it belongs to', () =>
    expect(readRunRequest({ ...request, trace }, 'run-1')).toEqual({ ...request, trace }));

  it.each<{ name: string; broken: object }>([
    { name: 'that is none', broken: { traceparent: '00-1-2-3' } },
    { name: 'without a span', broken: { traceparent: `00-${'a1'.repeat(16)}-${'0'.repeat(16)}-01` } },
    { name: 'with more than others pass on', broken: { ...trace, tracestate: 'x'.repeat(513) } },
  ])('leaves out a trace $name: the job is done all the same', ({ broken }) =>
    expect(readRunRequest({ ...request, trace: broken }, 'run-1')).toEqual(request),
  );

  it.each<{ name: string; change: object; problem: string }>([
    { name: 'a key that nobody knows', change: { file: '/etc/passwd' }, problem: 'file' },
    { name: 'no pipeline', change: { pipeline: undefined }, problem: 'pipeline' },
    { name: 'a hash that is none', change: { definition: 'a' }, problem: 'definition: is not the hash' },
    { name: 'a NUL', change: { params: { year: 'a\0b' } }, problem: 'a NUL' },
    { name: 'half of a character', change: { params: { year: '\ud834' } }, problem: 'half of a character' },
    { name: 'a NUL in a name', change: { params: { 'a\0b': 1 } }, problem: 'a NUL' },
    { name: 'a function', change: { params: { year: () => 1 } }, problem: 'params.year' },
  ])('refuses $name', ({ change, problem }) =>
    expect(() => readRunRequest({ ...request, ...change }, 'run-1')).toThrow(
      expect.objectContaining({ code: 'ETL_JOB_INVALID', message: expect.stringContaining(problem) }),
    ),
  );

  it.each([undefined, null, 'run', []])('refuses %j', (data) =>
    expect(() => readRunRequest(data, 'run-1')).toThrow('job run-1 of the run queue'),
  );
});

describe('readSegmentJob', () => {
  const segment = { fileId: 1, start: { byte: 10, line: 2, record: 1 }, byteEnd: 20 };
  const segments = [segment, { ...segment, fileId: 2 }];

  it('takes what a coordinator writes', () =>
    expect(readSegmentJob({ segments, generation: 2 }, 'file-1-10')).toEqual({ segments, generation: 2 }));

  it('takes the trace of its coordinator', () => {
    const traced = {
      segments,
      generation: 2,
      trace: { traceparent: `00-${'a1'.repeat(16)}-${'b2'.repeat(8)}-00` },
    };
    expect(readSegmentJob(traced, 'file-1-10')).toEqual(traced);
  });

  it.each<[name: string, data: object]>([
    ['no generation', { segments }],
    ['no segment', { segments: [], generation: 1 }],
    ['more segments than a job has', { segments: Array.from({ length: 101 }, () => segment), generation: 1 }],
    ['a negative byte', { segments: [{ ...segment, byteEnd: -1 }], generation: 1 }],
    ['a text for a number', { segments: [{ ...segment, fileId: '1' }], generation: 1 }],
    ['a key that nobody knows', { segments: [{ ...segment, path: '/etc/passwd' }], generation: 1 }],
  ])('refuses %s', (_, data) =>
    expect(() => readSegmentJob(data, 'file-1-10')).toThrow(
      expect.objectContaining({ code: 'ETL_JOB_INVALID' }),
    ),
  );
});
