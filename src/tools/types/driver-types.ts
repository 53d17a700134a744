// PostgreSQL's own types as the driver `pg` returns their values, if nobody has changed its parsers.

export interface DriverType {
  /** TypeScript type of a value, and of an array. The driver leaves some arrays as text. */
  readonly value: string;
  readonly array: string;
  /** Type of a value to insert, if it is wider than `value`. */
  readonly written?: string;
  /** Drizzle's builder, called with the modifiers of the type, such as ['10', '2']. */
  readonly drizzle?: (modifiers: readonly string[]) => string;
}

const text = 'string';
const interval =
  '{ years?: number; months?: number; days?: number; hours?: number; minutes?: number; seconds?: number; milliseconds?: number }';

const plain = (value: string, builder: string, more: Partial<DriverType> = {}): DriverType => ({
  value,
  array: `${value}[]`,
  drizzle: () => `t.${builder}()`,
  ...more,
});

/** Writes a builder with options, `names` being those of the type's modifiers. */
const builder =
  (name: string, names: readonly string[], fixed = '') =>
  (modifiers: readonly string[]): string => {
    const given = names.flatMap((option, index) =>
      modifiers[index] === undefined ? [] : [`${option}: ${modifiers[index]}`],
    );
    const options = [...given, ...(fixed === '' ? [] : [fixed])];
    return `t.${name}(${options.length === 0 ? '' : `{ ${options.join(', ')} }`})`;
  };

const time = (name: string, fixed?: string) => builder(name, ['precision'], fixed);

/** A type whose arrays the driver does not read either. */
const unread = (drizzle?: string): DriverType => ({
  value: text,
  array: text,
  ...(drizzle === undefined ? {} : { drizzle: () => `t.${drizzle}()` }),
});

const date = { written: 'Date | string' };
const json = { written: text };

const unreadTypes =
  'bit,bit varying,box,line,lseg,path,polygon,jsonpath,name,pg_lsn,tsquery,tsvector,xml,daterange,int4range,int8range,tsrange,tstzrange,datemultirange,int4multirange,int8multirange,nummultirange,tsmultirange,tstzmultirange'.split(
    ',',
  );

const driverTypes: Readonly<Record<string, DriverType>> = {
  smallint: plain('number', 'smallint'),
  integer: plain('number', 'integer'),
  bigint: plain(text, 'bigint', {
    written: 'bigint | number | string',
    drizzle: () => "t.bigint({ mode: 'bigint' })",
  }),
  real: plain('number', 'real'),
  'double precision': plain('number', 'doublePrecision'),
  // The driver reads an array of numeric as numbers, but a single numeric as text.
  numeric: plain(text, 'numeric', {
    array: 'number[]',
    written: 'number | string',
    drizzle: builder('numeric', ['precision', 'scale']),
  }),
  boolean: plain('boolean', 'boolean'),
  text: plain(text, 'text'),
  'character varying': plain(text, 'varchar', { drizzle: builder('varchar', ['length']) }),
  character: plain(text, 'char', { drizzle: builder('char', ['length']) }),
  bytea: { value: 'Buffer', array: 'Buffer[]' },
  json: plain('unknown', 'json', json),
  jsonb: plain('unknown', 'jsonb', json),
  uuid: plain(text, 'uuid'),
  date: plain('Date', 'date', date),
  time: plain(text, 'time', { drizzle: time('time') }),
  'time with time zone': plain(text, 'time', { drizzle: time('time', 'withTimezone: true') }),
  timestamp: plain('Date', 'timestamp', { ...date, drizzle: time('timestamp') }),
  'timestamp with time zone': plain('Date', 'timestamp', {
    ...date,
    drizzle: time('timestamp', 'withTimezone: true'),
  }),
  interval: plain(interval, 'interval', { written: `${interval} | string` }),
  inet: plain(text, 'inet'),
  cidr: plain(text, 'cidr'),
  macaddr: plain(text, 'macaddr'),
  macaddr8: unread('macaddr8'),
  money: { value: text, array: `${text}[]` },
  numrange: { value: text, array: `${text}[]` },
  oid: { value: 'number', array: 'number[]' },
  point: { value: '{ x: number; y: number }', array: '{ x: number; y: number }[]', written: text },
  circle: { value: '{ x: number; y: number; radius: number }', array: text, written: text },
  ...Object.fromEntries(unreadTypes.map((name) => [name, unread()])),
};

const aliases: Readonly<Record<string, string>> = {
  int2: 'smallint',
  int: 'integer',
  int4: 'integer',
  int8: 'bigint',
  float4: 'real',
  float: 'double precision',
  float8: 'double precision',
  decimal: 'numeric',
  bool: 'boolean',
  varchar: 'character varying',
  'char varying': 'character varying',
  'national character varying': 'character varying',
  'national char varying': 'character varying',
  char: 'character',
  bpchar: 'character',
  nchar: 'character',
  'national character': 'character',
  'national char': 'character',
  varbit: 'bit varying',
  timetz: 'time with time zone',
  'time without time zone': 'time',
  timestamptz: 'timestamp with time zone',
  'timestamp without time zone': 'timestamp',
};

export interface ReadType {
  readonly type: DriverType;
  readonly isArray: boolean;
  readonly modifiers: readonly string[];
}

/** Reads a type as declared or as `format_type` writes it; undefined: not PostgreSQL's own. */
export const readType = (written: string): ReadType | undefined => {
  const element = written.replace(/(?: ?\[\d*\])+$/, '');
  const name = element
    .replace(/ ?\([^)]*\)/, '')
    .toLowerCase()
    .replace(/^pg_catalog\./, '')
    .replace(/^interval .*/, 'interval');
  const known = aliases[name] ?? name;
  if (!Object.hasOwn(driverTypes, known)) return undefined;
  const modifiers =
    /\(([^)]*)\)/
      .exec(element)?.[1]
      ?.split(',')
      .map((each) => each.trim()) ?? [];
  return { type: driverTypes[known]!, isArray: element !== written, modifiers };
};

/** Type of a value that the driver returns. It returns types that it does not know as text. */
export const valueType = (written: string): string => {
  const read = readType(written);
  return read === undefined ? text : read.isArray ? read.type.array : read.type.value;
};

/** Type of a value that an insert takes. */
export const insertType = (written: string): string => {
  const read = readType(written);
  return read !== undefined && !read.isArray ? (read.type.written ?? read.type.value) : valueType(written);
};
