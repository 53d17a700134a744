// The row encoder: every routine of its WebAssembly module, in order, and what it asks the host.
//
// How to change it
// - `npm run encoder:dump` prints the module as text, with the names of routines and variables; bench/encoder-module.ts also has
//   that of the record scan.
// - A routine is a `functionOf` in one of the files here, in numbers/ or in json/, and one line below; it calls others by their names. The state, the
//   lists and the tables that it works on are named in memory.ts, what a kind of column keeps there in kinds.ts.
// - A kind of column is an entry in kinds.ts and a routine that reads it; a column type chooses it in its `bytes`.
// - A routine may be unsure, but never wrong: where it leaves the usual spelling it returns 0, and the column's reader decides.
// - Reads and writes of sixteen bytes go over the end of what is meant by up to `overrun`; a row has room for what
//   `rowRoom` and `perByte` say (compiled/row-plan.ts): a value that may be longer needs more of it.
// - test/unit/format/encoder/routines.test.ts calls each routine with bytes, test/unit/format/compiled-oracle.test.ts compares
//   whole files with the column readers, test/unit/format/moment-oracle.test.ts dates and times in all spellings,
//   test/integration/compiled.test.ts the values with the server's own, and test/integration/fast-path.test.ts shows that
//   little is left to slower code.

import { scanFields } from '../simd/field-scan.ts';
import { readBoolean, readWord } from './boolean-code.ts';
import { scanClock, scanOffset, scanTime } from './clock-code.ts';
import { encodeColumn } from './column-code.ts';
import { countDays, readDigits, readTwo, scanDay } from './day-code.ts';
import { scanDecimal } from './numbers/decimal-code.ts';
import { nearestDouble, scanDouble, scanFloat } from './numbers/float-code.ts';
import { keepDelimiters } from './delimiter-code.ts';
import { findToken, placeFields, takeOffDoubles } from './field-code.ts';
import { readJson } from './json/json-code.ts';
import { afterNumber, afterString } from './json/part-code.ts';
import { delimitersAt, planAt } from './memory.ts';
import { putMoment, readDate, readTime, readTimestamp, scanInfinity } from './moment-code.ts';
import { readDouble, readInteger, readReal } from './numbers/number-code.ts';
import { readNumeric } from './numbers/numeric-code.ts';
import { readPower } from './numbers/power-code.ts';
import { encodeRows } from './row-code.ts';
import { readPattern } from './pattern-code.ts';
import { obeysRules } from './rule-code.ts';
import { plainNumber } from './numbers/separators-code.ts';
import { scanSpecial } from './numbers/special-code.ts';
import { putCopyText, readText } from './text-code.ts';
import { readUuid } from './uuid-code.ts';

/** The module; its memory ends where the plan of a table begins. */
export const encoderModule = {
  memoryBytes: planAt,
  imported: {
    /**
     * (column's place, start and end of its text, address, end of the value that is written there or 0) -> the end of the value
     * once functions of the pipeline have seen it, or 0: refused or not sure.
     */
    encodeByText: 5,
    /** () -> whether the record in the slots is wanted, as `wanted` says. */
    isWanted: 0,
  },
  functions: {
    scanFields: scanFields(delimitersAt),
    scanDecimal,
    scanFloat,
    nearestDouble,
    scanSpecial,
    scanDouble,
    plainNumber,
    readInteger,
    readReal,
    readDouble,
    readNumeric,
    readPower,
    readText,
    readDigits,
    readTwo,
    countDays,
    scanDay,
    scanClock,
    scanTime,
    scanOffset,
    scanInfinity,
    putMoment,
    readDate,
    readTime,
    readTimestamp,
    readPattern,
    readUuid,
    readBoolean,
    readWord,
    afterString,
    afterNumber,
    readJson,
    keepDelimiters,
    takeOffDoubles,
    placeFields,
    findToken,
    obeysRules,
    putCopyText,
    encodeColumn,
    encodeRows,
  },
};
