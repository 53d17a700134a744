// Numbers in per cent: 12.5% is 12.5 or a share, 0.125.

type PlainNumber = (text: string) => string | undefined;

/** Blanks that are written before %: of ASCII, and the two that do not break a line. */
const sign = /[ \u00a0\u202f]?%$/;

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/i;

/** The hundredth of a plain number, digit by digit; undefined for what is no decimal. */
const hundredth = (text: string): string | undefined => {
  const [found, plusMinus = '', whole = '', rest = '', exponent = ''] = decimal.exec(text) ?? [];
  if (found === undefined || whole + rest === '') return undefined;
  const digits = whole.padStart(3, '0');
  return `${plusMinus}${digits.slice(0, -2)}.${digits.slice(-2)}${rest}${exponent}`;
};

/** Makes a number plain that must end with %. */
export const plainPercent =
  (plain: PlainNumber, percent: 'number' | 'share'): PlainNumber =>
  (text) => {
    if (!sign.test(text)) return undefined;
    const number = plain(text.replace(sign, ''));
    if (number === undefined || !decimal.test(number)) return undefined;
    return percent === 'share' ? hundredth(number) : number;
  };
