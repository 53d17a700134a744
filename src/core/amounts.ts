// Numbers, sizes, times and dates as people read them.

import { formatCount } from './wording.ts';

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB', 'PB'] as const;

/** 145_234_567 -> '145 MB', 1_500 -> '1.5 kB'. */
export const formatBytes = (bytes: number): string => {
  let value = bytes;
  let unit = 0;
  // From 999.5 on, rounding would print 1000 instead of 1 of the next unit.
  while (value >= 999.5 && unit < byteUnits.length - 1) {
    value /= 1000;
    unit += 1;
  }
  const digits = unit > 0 && value < 99.95 ? 1 : 0;
  return `${value.toFixed(digits)} ${byteUnits[unit]}`;
};

/** 0.04 -> '0.0 s', 4.21 -> '4.2 s', 184 -> '3 min 4 s', 3900 -> '1 h 5 min'. */
export const formatSeconds = (seconds: number): string => {
  if (seconds < 59.95) return `${seconds.toFixed(1)} s`;
  const whole = Math.round(seconds);
  if (whole < 3600) return `${Math.floor(whole / 60)} min ${whole % 60} s`;
  return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
};

/** Formats an estimated time, below a minute rounded up to whole seconds: 3.2 -> '4 s'. */
export const formatLeft = (seconds: number): string =>
  seconds <= 59 ? `${Math.ceil(seconds)} s` : formatSeconds(seconds);

export const formatRate = (records: number, seconds: number): string =>
  records > 0 && seconds > 0.001 ? formatCount(records / seconds) : '–';

const two = (value: number): string => String(value).padStart(2, '0');

/** Formats the local date and time: '2026-03-01 09:05:00'. */
export const formatDate = (date: Date): string =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())} ` +
  `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;

export const rounded = (figure: number): number => Math.round(figure * 1000) / 1000;

/** Seconds since `start`, a time of performance.now(), rounded to milliseconds. */
export const secondsSince = (start: number): number => rounded((performance.now() - start) / 1000);
