// The progress of a run as bars, lines and JSON, in windows of several sizes.

import { describe, expect, it } from 'vitest';
import { textWidth } from '../../../src/cli/layout.ts';
import { displayLogger, openDisplay, type ProgressMode } from '../../../src/cli/text/display.ts';
import type { RunResult } from '../../../src/core/model.ts';
import type { RunEvent } from '../../../src/core/run-event.ts';
import { fakeIo, type FakeIo } from './fake-io.ts';

const result: RunResult = {
  runId: 3,
  pipeline: 'noaa',
  outcome: 'published',
  publishedAt: new Date(2026, 2, 1, 9, 5, 0),
  tables: [],
  steps: [],
  seconds: 1,
};

const events = {
  started: { type: 'started', runId: 3, pipeline: 'noaa', server: 'me@localhost:5432/db', workers: 2 },
  planned: {
    type: 'planned',
    tables: [
      { table: 'station', kind: 'source', files: 1, bytes: 1_000 },
      { table: 'observation', kind: 'source', files: 6, bytes: 100_000_000 },
      { table: 'daily', kind: 'derived', files: 0, bytes: 0 },
    ],
  },
  load: { type: 'step', step: 'load' },
  begin: {
    type: 'progress',
    table: 'observation',
    bytes: 0,
    bytesTotal: 100_000_000,
    records: 0,
    copied: 0,
    rejected: 0,
    filtered: 0,
  },
  resumed: {
    type: 'progress',
    table: 'observation',
    bytes: 40_000_000,
    bytesTotal: 100_000_000,
    records: 300_000,
    copied: 300_000,
    rejected: 0,
    filtered: 0,
  },
  half: {
    type: 'progress',
    table: 'observation',
    bytes: 50_000_000,
    bytesTotal: 100_000_000,
    records: 400_000,
    copied: 399_997,
    rejected: 3,
    filtered: 0,
  },
  loaded: { type: 'loaded', table: 'observation', seconds: 8 },
  build: { type: 'step', step: 'build' },
  building: { type: 'building', table: 'daily', what: 'primary key' },
  publish: { type: 'step', step: 'publish' },
  again: { type: 'resumed', runId: 3, chunks: 0, records: 0 },
  notice: { type: 'notice', message: 'the server says\u001b[2J hello' },
  finished: { type: 'finished', result },
} as const satisfies Record<string, RunEvent>;

const terminal = { isTTY: true, columns: 120, rows: 24 };
const open = (
  io: FakeIo,
  mode: ProgressMode = 'auto',
  more: { json?: boolean; quiet?: boolean; verbose?: boolean } = {},
) => openDisplay({ mode, pipeline: 'noaa', json: false, quiet: false, verbose: false, ...more }, io);

const send = (
  io: FakeIo,
  display: ReturnType<typeof open>,
  names: readonly (keyof typeof events)[],
): void => {
  for (const name of names) {
    io.advance(1_000);
    display.event(events[name]);
  }
};

/** Returns the lines on the screen after the escape sequences of the bars are applied. */
const screenOf = (text: string): string[] => {
  const lines = [''];
  let row = 0;
  // oxlint-disable-next-line no-control-regex -- escape sequences are what it obeys
  for (const part of text.split(/(\u001b\[\d*A|\u001b\[2K|\u001b\[1B|\u001b\[\?25[hl]|\r|\n)/)) {
    const up = /\[(\d+)A/.exec(part)?.[1];
    if (up !== undefined) row -= Number(up);
    else if (part.endsWith('[2K')) lines[row] = '';
    else if (part.endsWith('[1B')) row += 1;
    else if (part === '\n') {
      row += 1;
      lines[row] ??= '';
    } else if (part !== '\r' && !part.includes('[?25')) lines[row] += part;
  }
  return lines.filter((line) => line !== '');
};

describe('bars', () => {
  const draw = (
    names: readonly (keyof typeof events)[],
    stderr: object = terminal,
  ): { io: FakeIo; screen: string[] } => {
    const io = fakeIo({ stderr, env: { TERM: 'xterm', LANG: 'C', NO_COLOR: '1' } });
    const display = open(io);
    send(io, display, names);
    display.close();
    return { io, screen: screenOf(io.stderr.text) };
  };

  it('show each table with bar, bytes, records, rate, rejects and time left', () => {
    const { screen } = draw(['started', 'planned', 'load', 'begin', 'half']);
    expect(screen.map((line) => line.replace(/ {2,}/g, '  ').trim())).toEqual([
      'noaa run 3: loading on me@localhost:5432/db, 5.0 s',
      'station  ------------------------  0%  0 B of 1.0 kB  0 records  –/s  0 rejected  waiting',
      'observation  ============------------  50%  50.0 MB of 100 MB  400,000 records  200,000/s  3 rejected  2 s left',
      'daily  waiting',
    ]);
  });

  it('calculate rate and time left from the records that this process loaded', () => {
    // 100,000 records and 10 MB in two seconds; 50 MB are left.
    const { screen } = draw(['started', 'planned', 'load', 'resumed', 'half']);
    expect(screen[2]).toMatch(/50% .* 400,000 records {2}50,000\/s {2}3 rejected {2}10 s left$/);
  });

  it('cut nothing while there is room', () => {
    const table = 'a_table_whose_name_is_longer_than_thirty_characters';
    const io = fakeIo({
      stderr: { ...terminal, columns: 160 },
      env: { TERM: 'xterm', LANG: 'C', NO_COLOR: '1' },
    });
    const display = open(io);
    display.event({ type: 'planned', tables: [{ table, kind: 'source', files: 1, bytes: 1_000 }] });
    display.close();
    expect(io.stderr.text).toContain(`${table}  ----`);
    expect(io.stderr.text).toContain('0 B of 1.0 kB');
    io.stderr.text = '';
    io.stderr.columns = 79;
    const narrow = open(io);
    narrow.event({ ...events.planned, tables: events.planned.tables.slice(0, 1) });
    narrow.close();
    expect(io.stderr.text).toContain('0 B of 1.0 kB');
  });

  it('disappear when the run has finished', () =>
    expect(draw(['started', 'planned', 'load', 'half', 'finished']).screen).toEqual([]));

  it('leave the last state when it has not', () =>
    expect(draw(['started', 'planned', 'load', 'half']).screen).toHaveLength(4));

  it('keep notices above, with their control characters shown', () => {
    const { screen } = draw(['started', 'planned', 'notice', 'load']);
    expect(screen[0]).toBe('the server says\\u001b[2J hello');
    expect(screen).toHaveLength(5);
  });

  it('say what is being built', () =>
    expect(draw(['started', 'planned', 'load', 'build', 'building']).screen.at(-1)).toMatch(
      /^ {2}daily .*building primary key$/,
    ));

  it('say what waits to be built again', () => {
    const { screen } = draw(['started', 'planned', 'load', 'half', 'loaded', 'build', 'publish', 'build']);
    expect(screen.map((line) => line.trim())).toEqual([
      expect.stringContaining('building on'),
      expect.stringMatching(/^station .* loaded in/),
      expect.stringMatching(/^observation .* loaded in/),
      expect.stringMatching(/^daily +waiting$/),
    ]);
  });

  it.each([40, 60, 80, 100, 200])('fit a window of %i columns', (columns) => {
    const { screen } = draw(['started', 'planned', 'load', 'half'], { ...terminal, columns });
    expect(screen).toHaveLength(4);
    for (const line of screen) expect(textWidth(line)).toBeLessThan(columns);
  });

  it('fit a window of three rows, showing the table that moves', () => {
    const { screen } = draw(['started', 'planned', 'load', 'begin', 'half'], { ...terminal, rows: 4 });
    expect(screen).toEqual([
      expect.stringContaining('noaa run 3'),
      expect.stringContaining('observation'),
      '  and 2 more tables',
    ]);
  });

  it('are drawn over the old ones after the window became narrower', () => {
    const io = fakeIo({ stderr: { ...terminal }, env: { TERM: 'xterm', LANG: 'C', NO_COLOR: '1' } });
    const display = open(io);
    send(io, display, ['started', 'planned', 'load', 'half']);
    io.stderr.columns = 60;
    io.stderr.text = '';
    send(io, display, ['half']);
    display.close();
    // Seven rows: the headline, and three lines of tables that each wrap to two rows.
    expect(io.stderr.text).toMatch(/^\u001b\[7A\r(\u001b\[2K\u001b\[1B){7}\u001b\[7A\r[^\u001b]/);
  });

  it('are not drawn more often than ten times a second', () => {
    const io = fakeIo({ stderr: terminal, env: { TERM: 'xterm', NO_COLOR: '1' } });
    const display = open(io);
    send(io, display, ['started', 'planned', 'load']);
    io.stderr.text = '';
    for (let count = 0; count < 50; count += 1) display.event(events.half);
    expect(io.stderr.text).toBe('');
    display.close();
  });

  it('hide the cursor and give it back, once', () => {
    const { io } = draw(['started', 'finished']);
    expect(io.stderr.text.split('\u001b[?25l')).toHaveLength(2);
    expect(io.stderr.text.endsWith('\u001b[?25h')).toBe(true);
  });

  it('leave no listener on the process', () => {
    const before = process.listenerCount('exit');
    draw(['started', 'finished']);
    expect(process.listenerCount('exit')).toBe(before);
  });
});

describe('lines', () => {
  it('list steps and tables with the seconds since the start', () => {
    const io = fakeIo();
    const display = open(io);
    send(io, display, [
      'started',
      'planned',
      'again',
      'load',
      'begin',
      'half',
      'loaded',
      'build',
      'building',
      'notice',
      'finished',
    ]);
    display.close();
    expect(io.stderr.text.split('\n')).toEqual([
      '[   1.0 s] run 3 of noaa on me@localhost:5432/db, 2 workers',
      '[   2.0 s] station: 1 file, 1.0 kB',
      '[   2.0 s] observation: 6 files, 100 MB',
      '[   2.0 s] daily: derived',
      '[   3.0 s] continuing run 3: nothing of it is loaded yet',
      '[   4.0 s] load started',
      '[   7.0 s] observation: loaded 400,000 records, 3 rejected, 0 filtered, 8.0 s',
      '[   8.0 s] load done',
      '[   8.0 s] build started',
      '[  10.0 s] the server says\\u001b[2J hello',
      '[  11.0 s] build done',
      '',
    ]);
  });

  it('say that a step was broken off when it is done again', () => {
    const io = fakeIo();
    const display = open(io);
    send(io, display, ['load', 'load', 'build', 'publish', 'build', 'publish', 'finished']);
    display.close();
    const lines = io.stderr.text.split('\n').map((line) => line.replace(/^\[.*\] /, ''));
    expect(lines.filter((line) => !line.endsWith(' started'))).toEqual([
      'load broken off',
      'load done',
      'build done',
      'publish broken off',
      'build done',
      'publish done',
      '',
    ]);
  });

  it('report a long load every five seconds', () => {
    const io = fakeIo();
    const display = open(io);
    send(io, display, ['started', 'planned', 'load', ...Array.from({ length: 12 }, () => 'half' as const)]);
    expect(io.stderr.text.match(/observation: 50% of 100 MB, 400,000 records, .*3 rejected/g)).toHaveLength(
      2,
    );
  });
});

const choices = [
  ['a terminal gets bars', terminal, { TERM: 'xterm' }, 'auto', true],
  ['a pipe gets lines', {}, {}, 'auto', false],
  ['CI gets lines', terminal, { TERM: 'xterm', CI: 'true' }, 'auto', false],
  ['a dumb terminal gets lines', terminal, { TERM: 'dumb' }, 'auto', false],
  ['--progress log gives lines on a terminal', terminal, { TERM: 'xterm' }, 'log', false],
  ['--progress bar gives bars on a pipe', {}, {}, 'bar', true],
] as const;

describe('choosing', () => {
  it.each(choices)('%s', (_, stderr, env, mode, bars) => {
    const io = fakeIo({ stderr, env });
    const display = open(io, mode);
    send(io, display, ['started']);
    display.close();
    expect(io.stderr.text.includes('\u001b[?25l')).toBe(bars);
    expect(io.stderr.text).not.toBe('');
  });

  it('--json prints every event as a line on stdout and nothing on stderr', () => {
    const io = fakeIo({ stderr: terminal, env: { TERM: 'xterm' } });
    const display = open(io, 'auto', { json: true });
    send(io, display, ['started', 'half', 'notice', 'finished']);
    display.close();
    const lines = io.stdout.text
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toEqual(
      [events.started, events.half, events.notice, events.finished].map((event, index) => ({
        ...JSON.parse(JSON.stringify(event)),
        time: `2023-11-14T22:13:2${index + 1}.000Z`,
        run: 3,
      })),
    );
    expect(io.stdout.text).not.toMatch(/\d\.\d{4}/);
    expect(io.stderr.text).toBe('');
  });

  it('--quiet prints nothing', () => {
    const io = fakeIo({ stderr: terminal, env: { TERM: 'xterm' } });
    const display = open(io, 'auto', { quiet: true, json: true });
    send(io, display, ['started', 'notice', 'finished']);
    displayLogger(display, { verbose: false, debug: false }).error({}, 'trouble');
    display.close();
    expect(io.stdout.text + io.stderr.text).toBe('');
  });

  it('--progress none still passes notices on', () => {
    const io = fakeIo({ stderr: terminal, env: { TERM: 'xterm' } });
    const display = open(io, 'none');
    send(io, display, ['started', 'half', 'notice']);
    expect(io.stderr.text).toBe('the server says\\u001b[2J hello\n');
  });
});

it.each([
  ['warnings are always shown', false, false, ['warning: w: 42501 no {"a":1}']],
  ['information with --verbose', true, false, ['info: i', 'warning: w: 42501 no {"a":1}']],
  ['everything with --debug', false, true, ['debug: d', 'info: i', 'warning: w: 42501 no {"a":1}']],
])('the logger %s', (_, verbose, debug, says) => {
  const io = fakeIo();
  const logger = displayLogger(open(io, 'none'), { verbose, debug });
  logger.debug({}, 'd');
  logger.info({}, 'i');
  logger.warn({ error: Object.assign(new Error('no'), { code: '42501' }), a: 1 }, 'w');
  expect(io.stderr.text.trimEnd().split('\n')).toEqual(says);
});
