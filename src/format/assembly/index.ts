// The module that reads records and encodes rows: AssemblyScript, compiled to WebAssembly by
// `npm run build`. docs/decoder.md says how to change it.

export { scanDecimal } from './decimal';
export { nearestDouble, scanDouble, scanFloat } from './float';
export { readDouble, readInteger, readReal } from './number';
export { readNumeric } from './numeric';
export { putCopyText, readText } from './text';
export { countDays, readDigits, readTwo, scanDay } from './day';
export { scanClock, scanOffset, scanTime } from './clock';
export { putMoment, readDate, readTime, readTimestamp, scanInfinity } from './moment';
export { readPattern, readPatterns } from './pattern';
export { readUuid } from './uuid';
export { readBoolean, readWord } from './boolean';
export { readJson } from './json';
export { keepDelimiters, placeFields } from './fields';
export { findToken } from './tokens';
export { obeysRules } from './rules';
export { scanFields, scanRecords } from './structure';
export { encodeColumn } from './columns';
export { beginPass, encodeSpans, pass, skipRecord } from './rows';
