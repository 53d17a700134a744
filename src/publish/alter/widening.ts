// Type changes that keep every value, and those among them that make the server rewrite the table.
//
// The list contains conversions that lose nothing, whatever the session's settings. So it lacks
// timestamp to timestamptz (depends on the time zone), char(n) (loses blanks), and json to jsonb
// (loses the order of keys).

/** A type as format_type() writes it: `numeric(10,2)` is numeric with the sizes 10 and 2. */
interface WrittenType {
  readonly base: string;
  readonly sizes: readonly number[];
}

const written = (type: string): WrittenType => {
  if (type === 'text') return written('character varying');
  const [, name = type, sizes, zone = ''] = /^([a-z ]+)\(([\d,-]+)\)(.*)$/.exec(type) ?? [];
  return { base: name + zone, sizes: sizes === undefined ? [] : sizes.split(',').map(Number) };
};

/** Number of digits of the largest value. */
const digits: Readonly<Record<string, number>> = { smallint: 5, integer: 10, bigint: 19 };

/** Types that hold every value of the first one exactly. */
const wider: Readonly<Record<string, readonly string[]>> = {
  smallint: ['integer', 'bigint', 'real', 'double precision'],
  integer: ['bigint', 'double precision'],
  real: ['double precision'],
  date: ['timestamp without time zone'],
};

/** Types whose length or precision may grow. text counts as varchar without a length. */
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

/** How a type becomes a wider one; undefined: values may be lost. PostgreSQL, "ALTER TABLE". */
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
