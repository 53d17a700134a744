// The row encoder: every routine of its WebAssembly module, in order, and what it asks the host.
//
// How to change it
// - `npm run encoder:dump` prints the module as text, with the names of routines and variables; bench/encoder-module.ts also has
//   the module of the record scan.
// - A routine is a `functionOf` in one of the files here or in numbers/, moments/ or json/, and one line below; it calls others
//   by name. Addresses are in memory.ts, what is kept at them in layouts.ts and token-list.ts, what a kind of column keeps in kinds.ts.
// - A kind of column is an entry in kinds.ts and a routine that reads it; a column type chooses it in its `bytes`.
// - A routine may be unsure, but never wrong: for an unusual spelling it returns 0, and the column's reader decides.
// - Parameters are variables: a routine changes its own. A helper that gets `v` works on the variables of the routine around it,
//   and a `take…` moves `start` after the bytes it has read.
// - A value has to stay within the room of its column: see RowPlan in compiled/row-plan.ts.
// - test/unit/format/encoder/routines.test.ts calls each routine with bytes, test/unit/format/records/compiled-oracle.test.ts compares
//   whole files with the column readers, test/unit/format/records/moment-oracle.test.ts dates and times in all spellings,
//   test/integration/compiled.test.ts the values with the server's own, and test/integration/fast-path.test.ts shows that
//   little is left to slower code.
//
// Numbers that are no value
//   0            not sure: read…, encode…, obeysRules, plainNumber, scanFloat, scanSpecial, after…; none: findToken, scanInfinity
//   -1           not sure, where 0 is a value: readDigits, readTwo, scanClock, scanTime, scanOffset, scanDecimal
//   noDouble     not sure, of bits: nearestDouble, scanDouble (-1, the bits of a NaN that they never return)
//   noDay        no day of the calendar: scanDay, countDays
//   noZone       each text of the column has its own offset
//   0x7fffffff   the address after the last delimiter of a list
//   -1           in memory: `state.quote` without quotes, `token.length` of an empty slot, `token.valueBytes` of a refused record,
//                `other` of a boolean without `else`

import { scanFields } from '../wasm/field-scan.ts';
import { readBoolean, readWord } from './boolean-code.ts';
import { scanClock, scanOffset, scanTime } from './clock-code.ts';
import { encodeColumn } from './column-code.ts';
import { countDays, readDigits, readTwo, scanDay } from './day-code.ts';
import { scanDecimal } from './decimal-code.ts';
import { nearestDouble, scanDouble, scanFloat } from './float-code.ts';
import { keepDelimiters } from './delimiter-code.ts';
import { findToken, placeFields, takeOffDoubles } from './field-code.ts';
import { readJson } from './json-code.ts';
import { afterNumber, afterString } from './part-code.ts';
import { putLine } from './line-code.ts';
import { delimitersAt, planAt } from './memory.ts';
import { putMoment, readDate, readTime, readTimestamp, scanInfinity } from './moment-code.ts';
import { readDouble, readInteger, readReal } from './number-code.ts';
import { readNumeric } from './numeric-code.ts';
import { readPower } from './power-code.ts';
import { encodeRows } from './row-code.ts';
import { readPattern, readPatterns } from './pattern-code.ts';
import { obeysRules } from './rule-code.ts';
import { plainNumber } from './separators-code.ts';
import { scanSpecial } from './special-code.ts';
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
    readPatterns,
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
    putLine,
    encodeColumn,
    encodeRows,
  },
};
