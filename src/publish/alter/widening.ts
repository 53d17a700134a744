// Lists type changes that keep every value, and those that rewrite the table.
//
// Changes that depend on settings, or lose anything, are left out: timestamp to timestamptz (time
// zone), char(n) (blanks), json to jsonb (order of keys).

/** Example: `numeric(10,2)` has the base numeric and the sizes 10 and 2. */
interface WrittenType {
  readonly base: string;
  readonly sizes: readonly number[];
}

const written = (type: string): WrittenType => {
  if (type === 'text') return written('character varying');
  const [, name = type, sizes, zone = ''] = /^([a-z ]+)\(([\d,-]+)\)(.*)$/.exec(type) ?? [];
  return { base: name + zone, sizes: sizes === undefined ? [] : sizes.split(',').map(Number) };
};

const digits: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };

/** Types that hold every value of the key's type exactly. */
const wider: Readonly<Record<string, readonly string[]>> = {
  smallint: ['integer', 'bigint', 'real', 'double precision'],
  integer: ['bigint', 'double precision'],
  real: ['double precision'],
  date: ['timestamp without time zone'],
};

const growing = new Set([
  'character varying',
  'bit varying',
  'time without time zone',
  'time with time zone',
  'timestamp without time zone',
  'timestamp with time zone',
]);

/** Digits before and after the decimal point; Infinity if unlimited. */
const placesOf = ({ sizes: [precision, scale = 0] }: WrittenType): readonly [number, number] =>
  precision === undefined ? [Infinity, Infinity] : [precision - scale, scale];

const numericHolds = (to: WrittenType, whole: number, fraction: number): boolean => {
  const [most, places] = placesOf(to);
  return most >= whole && places >= fraction;
};

/** Returns undefined if values may be lost. PostgreSQL, "ALTER TABLE". */
export const widens = (from: string, to: string): { readonly rewrites: boolean } | undefined => {
  const [was, is] = [written(from), written(to)];
  const { base } = was;
  if (base === 'numeric' && is.base === 'numeric') {
    const [whole, fraction] = placesOf(was);
    if (!numericHolds(is, whole, fraction)) return undefined;
    return { rewrites: is.sizes.length > 0 && fraction !== placesOf(is)[1] };
  }
  if (base === is.base && growing.has(base))
    return (is.sizes[0] ?? Infinity) >= (was.sizes[0] ?? Infinity) ? { rewrites: false } : undefined;
  const whole = digits[base];
  const holds =
    whole !== undefined && is.base === 'numeric'
      ? numericHolds(is, whole, 0)
      : wider[base]?.includes(is.base) === true && is.sizes.length === 0;
  return holds ? { rewrites: true } : undefined;
};
