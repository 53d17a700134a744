// Figures as people read them.

import type { Side } from './contract.ts';

export const count = (value: number): string =>
  Math.round(value).toLocaleString('en-US', { maximumFractionDigits: 0 });

const significant = (value: number): string =>
  value >= 100 ? count(value) : value >= 10 ? value.toFixed(1) : value.toFixed(2);

export const bytes = (value: number): string => {
  if (value >= 1e9) return `${significant(value / 1e9)} GB`;
  if (value >= 1e6) return `${significant(value / 1e6)} MB`;
  if (value < 10) return `${significant(value)} B`;
  return value >= 1e3 ? `${significant(value / 1e3)} kB` : `${count(value)} B`;
};

export const ratio = (value: number): string => (value >= 0.01 ? value.toFixed(2) : value.toFixed(4));

/** What was measured of a side, in one cell each: time or rate, rows a second, log. */
export const sideCells = (side: Side): readonly [string, string, string] => {
  const { seconds, rowsPerSecond, transactionsPerSecond, logBytes, logBytesPerTransaction } = side;
  const time =
    seconds === undefined ? `${count(transactionsPerSecond ?? 0)} tps` : `${significant(seconds)} s`;
  const log =
    logBytes === undefined
      ? logBytesPerTransaction === undefined
        ? '–'
        : `${bytes(logBytesPerTransaction)} a transaction`
      : bytes(logBytes);
  return [time, rowsPerSecond === undefined ? '–' : count(rowsPerSecond), log];
};
