// Dates and times in a pattern such as M/D/YYYY.

import {
  partDay,
  partFraction,
  partHalf,
  partHour,
  partMinute,
  partMonth,
  partOffset,
  partSecond,
  partYear,
  patternsList,
  patternSteps,
  patternWrites,
  patternZone,
  readsByte,
  readsEnd,
  readsFour,
  readsFraction,
  readsHalf,
  readsMonthName,
  readsOffset,
  readsOneOrTwo,
  readsTwo,
  stepBytes,
  stepNeeds,
  stepNext,
  stepReads,
  writesDate,
  writesDayOfMoment,
  writesTime,
} from './layouts';
import { monthNamesAt, partsAt, wholePowersAt } from './memory';
import { digitAt } from './bytes';
import { scanOffset, secondsEastOf, takenOf } from './clock';
import { countDays, noDay, readDigits, readTwo } from './day';
import { putMoment } from './moment';
import { putFour } from './put';

/** Each `take` returns the address after what it has read, or 0. */
function takeOneOrTwo(start: usize, end: usize, part: usize): usize {
  let value = digitAt(start);
  if (value > 9) return 0;
  start += 1;
  const more = digitAt(start);
  if (more < 10 && start < end) {
    value = value * 10 + more;
    start += 1;
  }
  store<u32>(partsAt + part, value);
  return start;
}

function takeTwo(start: usize, part: usize): usize {
  const value = readTwo(start);
  if (value == -1) return 0;
  store<i32>(partsAt + part, value);
  return start + 2;
}

function takeFour(start: usize, part: usize): usize {
  const upper = readTwo(start);
  const lower = readTwo(start + 2);
  if (upper == -1 || lower == -1) return 0;
  store<i32>(partsAt + part, upper * 100 + lower);
  return start + 4;
}

/** `pivot`: the first year of two digits that is in the 1900s. */
function takeShortYear(start: usize, pivot: i32): usize {
  const value = readTwo(start);
  if (value == -1) return 0;
  store<i32>(partsAt + partYear, value + (value < pivot ? 2000 : 1900));
  return start + 2;
}

function takeMonthName(start: usize): usize {
  const letters = (load<u32>(start) & 0xffffff) | 0x202020;
  for (let month: usize = 0; month < 12; month += 1)
    if (load<u32>(monthNamesAt + 4 * month) == letters) {
      store<u32>(partsAt + partMonth, <u32>month + 1);
      return start + 3;
    }
  return 0;
}

function takeHalf(start: usize): usize {
  const letters = <u32>load<u16>(start) | 0x2020;
  const half: u32 = letters == 0x6d61 ? 1 : letters == 0x6d70 ? 2 : 0;
  store<u32>(partsAt + partHalf, half);
  return half == 0 ? 0 : start + 2;
}

function takeFraction(start: usize, digits: u32): usize {
  const value = readDigits(start, digits);
  if (value == -1) return 0;
  store<u32>(partsAt + partFraction, value * load<u32>(wholePowersAt + 8 * <usize>(6 - digits)));
  return start + digits;
}

function takeOffset(start: usize, end: usize): usize {
  const scanned = scanOffset(start, end);
  if (scanned == -1) return 0;
  store<i32>(partsAt + partOffset, secondsEastOf(scanned));
  return start + takenOf(scanned);
}

function takeStep(step: usize, start: usize, end: usize): usize {
  const needs = load<u32>(step, stepNeeds);
  switch (load<u32>(step, stepReads)) {
    case readsByte:
      return load<u8>(start) == needs ? start + 1 : 0;
    case readsOneOrTwo:
      return takeOneOrTwo(start, end, needs);
    case readsTwo:
      return takeTwo(start, needs);
    case readsFour:
      return takeFour(start, needs);
    case readsMonthName:
      return takeMonthName(start);
    case readsHalf:
      return takeHalf(start);
    case readsFraction:
      return takeFraction(start, needs);
    case readsOffset:
      return takeOffset(start, end);
    default:
      return takeShortYear(start, needs);
  }
}

/** Takes the steps of a pattern. The last line detects a step that read beyond the field. */
function takeSteps(step: usize, start: usize, end: usize): bool {
  for (; load<u32>(step, stepReads) != readsEnd; step += stepBytes) {
    start = takeStep(step, start, end);
    if (start == 0) return false;
    const next = load<u32>(step, stepNext);
    if (next != 0 && load<u8>(start++) != next) return false;
  }
  return start == end;
}

@inline
function part(offset: usize): u32 {
  return load<u32>(partsAt + offset);
}

/** Seconds since midnight, or -1. */
function secondsOfParts(): i32 {
  let hour = part(partHour);
  if (part(partHalf) != 0) {
    if (hour - 1 > 11) return -1;
    hour = (hour % 12) + (part(partHalf) == 2 ? 12 : 0);
  }
  if (hour > 23 || part(partMinute) > 59 || part(partSecond) > 59) return -1;
  return hour * 3600 + part(partMinute) * 60 + part(partSecond);
}

function readSteps(column: usize, steps: usize, start: usize, end: usize, out: usize): usize {
  memory.fill(partsAt + partHour, 0, partOffset - partHour);
  store<u32>(partsAt + partOffset, load<u32>(column, patternZone));
  if (!takeSteps(steps, start, end)) return 0;
  const writes = load<u32>(column, patternWrites);
  let days: i32 = 0;
  if (writes != writesTime) {
    days = countDays(part(partYear), part(partMonth), part(partDay));
    if (days == noDay) return 0;
  }
  const seconds = secondsOfParts();
  if (seconds == -1) return 0;
  const micros = <i64>seconds * 1_000_000 + part(partFraction);
  if (writes == writesDate && micros != 0) return 0;
  if (writes == writesDate || writes == writesDayOfMoment) return putFour(out, days);
  return putMoment(out, days, <i32>part(partOffset), micros);
}

/** (column, start, end, out) -> address after the value, or 0: TypeScript must decide. */
export function readPattern(column: usize, start: usize, end: usize, out: usize): usize {
  return readSteps(column, load<u32>(column, patternSteps), start, end, out);
}

/** Tries each pattern of the column's list in turn. */
export function readPatterns(column: usize, start: usize, end: usize, out: usize): usize {
  let pattern = <usize>load<u32>(column, patternsList);
  while (load<u32>(pattern) != 0) {
    const after = readSteps(column, pattern + 4, start, end, out);
    if (after != 0) return after;
    pattern += 4 + load<u32>(pattern);
  }
  return 0;
}
