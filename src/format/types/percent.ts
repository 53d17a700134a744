// Numbers in percent: 12.5% is 12.5, or the share 0.125.

type PlainNumber = (text: string) => string | undefined;

/** The percent sign. A blank, or one of the two no-break spaces, may precede it. */
const sign = /[ \u00a0\u202f]?%$/;

const decimal = /^([+-]?)(\d*)(?:\.(\d*))?(e[+-]?\d+)?$/i;

/** Divides by 100 by moving the point, which is exact. Undefined for other texts. */
const hundredth = (text: string): string | undefined => {
  const [found, plusMinus = '', whole = '', rest = '', exponent = ''] = decimal.exec(text) ?? [];
  if (found === undefined || whole + rest === '') return undefined;
  const digits = whole.padStart(3, '0');
  return `${plusMinus}${digits.slice(0, -2)}.${digits.slice(-2)}${rest}${exponent}`;
};

/** Makes a PlainNumber for texts that must end with %. */
export const plainPercent =
  (plain: PlainNumber, percent: 'number' | 'share'): PlainNumber =>
  (text) => {
    if (!sign.test(text)) return undefined;
    const number = plain(text.replace(sign, ''));
    if (number === undefined || !decimal.test(number)) return undefined;
    return percent === 'share' ? hundredth(number) : number;
  };
