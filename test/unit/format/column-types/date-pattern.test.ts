// Patterns that cannot be read in one way only, or that do not suit their type.

import {
  dateType,
  timestampType,
  timestamptzType,
  timeType,
} from '../../../../src/format/column-types/datetime.ts';
import { describeProblems } from './reader-cases.ts';

describeProblems(dateType, [
  [{ format: 'YYYY-MM' }, 'needs year, month and day'],
  [{ format: '' }, 'needs year, month and day'],
  [{ format: 'YYYY-MM-DD HH:mm' }, 'use timestamp'],
  [{ format: 'yyyy-MM-DD' }, "'yyyy' means nothing"],
  [{ format: 'YYYY-MM-DDD' }, "'DDD' means nothing"],
  [{ format: 'YYYY-MM-DD é' }, 'means nothing'],
  [{ format: 'YYYYMD' }, 'cannot follow it directly'],
  [{ format: 'YYYY-MM-M-DD' }, 'names the month twice'],
]);
describeProblems(timestampType, [
  [{ format: 'YYYY-MM-DD hh:mm' }, 'needs A'],
  [{ format: 'YYYY-MM-DD HH:mm A' }, 'use hh'],
  [{ format: 'YYYY-MM-DD mm' }, 'mm needs HH'],
  [{ format: 'YYYY-MM-DD HH:mm.SSS' }, 'SSS needs ss'],
  [{ format: 'YYYY-MM-DD HH:mm:ss.SSSSSSS' }, 'means nothing'],
  [{ format: 'YYYY-MM-DD HH:mmZ' }, 'use timestamptz'],
]);
describeProblems(timestamptzType, [
  [{ format: 'YYYY-MM-DD HH:mm' }, 'or zone'],
  [{ format: 'YYYY-MM-DD HHZ:mm' }, 'cannot follow it directly'],
  [{ zone: 'CET' }, 'neither'],
  [{ zone: '+1:00' }, 'neither'],
  [{ zone: '+16:00' }, 'neither'],
]);
describeProblems(timeType, [
  [{ format: 'YYYY HH' }, 'a time has no year'],
  [{ format: ':' }, 'needs an hour'],
]);
