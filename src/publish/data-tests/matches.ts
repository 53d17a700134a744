// matches: a regular expression finds something in every value, with JavaScript's meaning.

import { quoteName, quoteText } from '../../db/sql.ts';
import { columnOf, defineTest, row, type RowKind, type TestOptions } from './contract.ts';

// Translates a JavaScript regular expression for PostgreSQL, or refuses it. On the server, \d, \w,
// \s and letter case depend on the locale, so classes become lists of code points. Proved by
// test/integration/data-tests.test.ts, "as JavaScript does".

/** The message continues the name of the data test. */
export class PatternRefused extends Error {}

type Range = readonly [number, number];

const point = (text: string): number => text.codePointAt(0)!;
const span = (first: string, last = first): Range => [point(first), point(last)];

const digits = [span('0', '9')];
const words = [span('a', 'z'), span('A', 'Z'), span('0', '9'), span('_')];
const lineEnds = [span('\n'), span('\r'), span('\u2028', '\u2029')];
const blanks = [...'\t\v\f \u00a0\ufeff\u1680\u202f\u205f\u3000'].map((one) => span(one));
const spaces = [...blanks, span('\u2000', '\u200a'), ...lineEnds];

const textRanges: readonly Range[] = [
  [1, 0xd7ff],
  [0xe000, 0x10ffff],
];

const except = (ranges: readonly Range[]): Range[] =>
  ranges.reduce<Range[]>(
    (left, [first, last]) =>
      left
        .flatMap(([from, to]): Range[] =>
          last < from || first > to
            ? [[from, to]]
            : [
                [from, first - 1],
                [last + 1, to],
              ],
        )
        .filter(([from, to]) => from <= to),
    [...textRanges],
  );

const classes: Readonly<Record<string, readonly Range[]>> = {
  d: digits,
  w: words,
  s: spaces,
  D: except(digits),
  W: except(words),
  S: except(spaces),
};

/** Ranges that flag i does not change. Beyond ASCII, a range has all cases of a letter or none. */
const caseless: ReadonlySet<Range> = new Set(Object.values(classes).flat());

const controls: Readonly<Record<string, string>> = { t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };

/** The server refuses larger counts: DUPMAX in PostgreSQL, "Regular Expression Matching Rules". */
const repetitionMax = 255;

/** Escapes all but letters and digits, so that no character has a special meaning. */
const written = (code: number): string => {
  const text = String.fromCodePoint(code);
  if (/[A-Za-z0-9]/.test(text)) return text;
  const hex = code.toString(16);
  return code > 0xffff ? `\\U${hex.padStart(8, '0')}` : `\\u${hex.padStart(4, '0')}`;
};

const bracket = (ranges: readonly Range[], isNegated = false): string =>
  `[${isNegated ? '^' : ''}${ranges.map(([from, to]) => (from === to ? written(from) : `${written(from)}-${written(to)}`)).join('')}]`;

const otherCase = (ranges: readonly Range[]): Range[] =>
  ranges.flatMap(([from, to]) =>
    (
      [
        ['a', 'z', -32],
        ['A', 'Z', 32],
      ] as const
    ).flatMap(([first, last, step]): Range[] => {
      const [low, high] = [Math.max(from, point(first)), Math.min(to, point(last))];
      return low > high ? [] : [[low + step, high + step]];
    }),
  );

const refuse = (what: string): never => {
  throw new PatternRefused(`${what}, which PostgreSQL reads differently; avoid it, or use expect.sql`);
};

class Translator {
  readonly #characters: readonly string[];
  readonly #flags: string;
  #at = 0;

  constructor({ source, flags }: RegExp) {
    this.#characters = [...source];
    this.#flags = flags;
    if (!flags.includes('u') && this.#characters.some((one) => one.length > 1))
      refuse('has a character beyond U+FFFF without the flag u');
  }

  all(): string {
    const text = this.#alternatives();
    if (this.#at < this.#characters.length) refuse(`has a ${this.#characters[this.#at]!}`);
    return text;
  }

  #takes(text: string): boolean {
    const isThere = [...text].every((one, step) => this.#characters[this.#at + step] === one);
    if (isThere) this.#at += text.length;
    return isThere;
  }

  #next(): string {
    const character = this.#characters[this.#at] ?? refuse('ends early');
    this.#at += 1;
    return character;
  }

  #alternatives(): string {
    let text = '';
    while (this.#at < this.#characters.length && this.#characters[this.#at] !== ')')
      text += this.#takes('|') ? '|' : this.#term();
    return text;
  }

  #term(): string {
    if (this.#takes('^')) return '^';
    if (this.#takes('$')) return '$';
    return this.#atom() + this.#repetition();
  }

  #atom(): string {
    if (this.#takes('(')) return this.#group();
    if (this.#takes('[')) return this.#class();
    if (this.#takes('.')) return this.#flags.includes('s') ? '.' : bracket(lineEnds, true);
    const character = this.#next();
    if (character === '\\') return this.#oneOf(this.#escape());
    if ('{}]*+?'.includes(character)) refuse(`has a ${character} that is not escaped`);
    return this.#oneOf([span(character)]);
  }

  #group(): string {
    if (this.#takes('?') && !this.#takes(':')) {
      const isNamed = this.#takes('<') && /[\p{ID_Start}$_]/u.test(this.#characters[this.#at] ?? '');
      if (!isNamed) refuse('has a lookaround or a modifier');
      while (this.#next() !== '>');
    }
    const text = this.#alternatives();
    if (!this.#takes(')')) refuse('has a group without an end');
    return `(?:${text})`;
  }

  /**
   * Translates a repetition. Lazy ones become greedy, which changes the match, but not whether
   * there is one.
   */
  #repetition(): string {
    const rest = this.#characters.slice(this.#at).join('');
    const [all = '', count = '', , most = ''] = /^(?:[*+?]|\{(\d+)(,(\d*))?\})/.exec(rest) ?? [];
    if (Math.max(Number(count), Number(most)) > repetitionMax)
      refuse(`repeats more than ${repetitionMax} times`);
    this.#at += all.length;
    if (all !== '') this.#takes('?');
    return all;
  }

  #withCase(ranges: readonly Range[]): readonly Range[] {
    if (!this.#flags.includes('i')) return ranges;
    if (ranges.some((range) => range[1] > 127 && !caseless.has(range)))
      refuse('has a character beyond ASCII with the flag i');
    return [...ranges, ...otherCase(ranges)];
  }

  #oneOf(ranges: readonly Range[]): string {
    const all = this.#withCase(ranges);
    const [first] = all;
    return all.length === 1 && first![0] === first![1] ? written(first![0]) : bracket(all);
  }

  #class(): string {
    const isNegated = this.#takes('^');
    const ranges: Range[] = [];
    while (!this.#takes(']')) {
      const first = this.#member();
      const [from] = first;
      if (this.#characters[this.#at] !== '-' || this.#characters[this.#at + 1] === ']') {
        ranges.push(...first);
        continue;
      }
      this.#at += 1;
      const [to] = this.#member();
      if (first.length > 1 || from![0] !== from![1] || to![0] !== to![1])
        refuse('has a range that begins or ends with a class');
      ranges.push([from![0], to![1]]);
    }
    if (ranges.length === 0) return isNegated ? '.' : refuse('has an empty class');
    return bracket(this.#withCase(ranges), isNegated);
  }

  #member(): readonly Range[] {
    const character = this.#next();
    if (character === '[' || character === '&' || character === '~') return [span(character)];
    return character === '\\' ? this.#escape() : [span(character)];
  }

  #escape(): readonly Range[] {
    const character = this.#next();
    const known = classes[character];
    if (known !== undefined) return known;
    const control = controls[character];
    if (control !== undefined) return [span(control)];
    if (character === 'x' || character === 'u') return [this.#numbered(character)];
    if (/[A-Za-z0-9]/.test(character)) refuse(`has \\${character}`);
    return [span(character)];
  }

  #numbered(letter: 'x' | 'u'): Range {
    const rest = this.#characters.slice(this.#at).join('');
    const form =
      letter === 'x'
        ? /^([\da-f]{2})/i
        : this.#flags.includes('u')
          ? /^(?:([\da-f]{4})|\{([\da-f]+)\})/i
          : /^([\da-f]{4})/i;
    const [all = '', short, long] = form.exec(rest) ?? refuse(`has \\${letter} without a number`);
    this.#at += all.length;
    const code = Number.parseInt(short ?? long ?? '', 16);
    if (except([]).every(([from, to]) => code < from || code > to)) refuse('has a NUL or a surrogate');
    return [code, code];
  }
}

/** Flags u and s are translated with the pattern; flag i adds letters in the other case. */
const flagsKnown = /^[isu]*$/;

/** Errors: PatternRefused. */
export const serverPattern = (pattern: RegExp): string => {
  const { flags } = pattern;
  if (!flagsKnown.test(flags) || (flags.includes('i') && flags.includes('u')))
    throw new PatternRefused(`has the flags ${flags}; allowed are s, and either i or u`);
  // `***:` selects advanced regular expressions, whatever the server's default.
  return `***:${new Translator(pattern).all()}`;
};

export const matches = {
  per: 'row',
  define: <const Name extends string>(column: Name, pattern: RegExp, options: TestOptions = {}) =>
    defineTest('matches', [column], { pattern }, options),
  read: ({ columns: [name], of: { pattern } }, asked) => {
    if (asked.column(name!)?.isText === false) asked.add(`needs a text, and \`${name}\` is not one`);
    if (!(pattern instanceof RegExp)) {
      asked.add('needs a RegExp');
      return undefined;
    }
    try {
      return { pattern: serverPattern(pattern), shown: String(pattern) };
    } catch (error) {
      if (!(error instanceof PatternRefused)) throw error;
      asked.add(error.message);
      return undefined;
    }
  },
  fails: ({ columns: [name], of: { pattern } }, columns) => {
    const value = `${row}.${quoteName(columnOf(columns, name!).name)}::text collate pg_catalog."C"`;
    return `${value} operator(pg_catalog.!~) ${quoteText(pattern as string)}`;
  },
  problem: ({ columns, of: { shown } }) => `${columns[0]} does not match ${String(shown)}`,
} satisfies RowKind;
