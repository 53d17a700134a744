// An Io that keeps what is written to its streams, for tests of the command line.

import { tmpdir } from 'node:os';
import type { Input, Io, Output } from '../../../src/cli/io.ts';

export interface FakeOutput extends Output {
  text: string;
  columns?: number;
  rows?: number;
  isTTY?: boolean;
}

export interface FakeIo extends Io {
  readonly stdout: FakeOutput;
  readonly stderr: FakeOutput;
  advance(ms: number): void;
}

const fakeOutput = (terminal: Partial<FakeOutput> = {}): FakeOutput => ({
  text: '',
  ...terminal,
  write(text: string, done?: () => void) {
    this.text += text;
    done?.();
    return true;
  },
});

interface FakeIoOptions {
  readonly stdin?: Input;
  readonly env?: NodeJS.ProcessEnv;
  readonly workingDirectory?: string;
  readonly stdout?: Partial<FakeOutput>;
  readonly stderr?: Partial<FakeOutput>;
}

export const fakeIo = (options: FakeIoOptions = {}): FakeIo => {
  let nowMs = 1_700_000_000_000;
  return {
    ...(options.stdin === undefined ? {} : { stdin: options.stdin }),
    stdout: fakeOutput(options.stdout),
    stderr: fakeOutput(options.stderr),
    env: { ...options.env },
    workingDirectory: options.workingDirectory ?? tmpdir(),
    clock: () => nowMs,
    advance(ms) {
      nowMs += ms;
    },
  };
};
