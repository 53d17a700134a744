// The row encoder's WebAssembly module.
//
// How to change it
// - `npm run encoder:dump` prints the module as text.
// - A routine is a `functionOf` in one of the files here, and one line below. It calls other
//   routines by name, and may change its parameters.
// - A kind of column is an entry in kinds.ts and a routine that reads it. A column type chooses a
//   kind in its `bytes`.
// - A routine may be unsure, but never wrong: for an unusual spelling it returns 0, and the
//   column's reader decides.
// - A helper that takes `v` uses the variables of the routine that calls it. A helper named `take…`
//   moves `start` after the bytes that it has read.
// - A value must stay within the room of its column: see RowPlan in rows/row-plan.ts.
// - test/unit/format/encoder/routines.test.ts calls each routine;
//   test/unit/format/records/compiled-oracle.test.ts compares whole files with the column readers,
//   and timestamp-oracle.test.ts dates and times; test/integration/compiled.test.ts compares values
//   with the server's; test/integration/fast-path.test.ts counts what is left to slower code.
//
// Results that are not values
// - 0: unsure; from findToken and scanInfinity: not found
// - -1: unsure, from routines for which 0 is a value: readDigits, readTwo, scanClock, scanTime,
//   scanOffset, scanDecimal
// - noDouble (-1, the bits of a NaN): unsure, from nearestDouble and scanDouble
// - 0x7fffffff: follows the last delimiter of a list
// - -1 in memory: no quotes (`state.quote`), an empty slot (`token.length`), a refused record
//   (`token.valueBytes`), a boolean without `else` (`other`)

import { scanFields } from '../field-scan.ts';
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

/** The memory ends where a table's plan begins, and grows with the plan. */
export const encoderModule = {
  memoryBytes: planAt,
  imported: {
    /**
     * (column's index, start and end of its text, address, end of the value already written there
     * or 0) -> end of the value after user functions, or 0: refused or unsure.
     */
    encodeByText: 5,
    /** () -> one of `wanted`: does the record in the slots satisfy the filters? */
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
