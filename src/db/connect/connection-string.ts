// Reads a connection string as libpq does: a URL, or `keyword=value` pairs.
//
// As in node-postgres, `+` in `options` is a space, and `ssl` sets sslmode. A URL with an unescaped
// password is refused; libpq would read a part of it as the host. Errors never repeat a part of a
// password.

import { checkParameters, usage, type Parameters } from './parameters.ts';

const looksLike = 'A connection string looks like postgres://user:password@host:5432/database.';

const notEscaped = () =>
  usage(
    'the database URL has a character that must be percent-encoded, perhaps in the password',
    'Percent-encode user, password and database: @ is %40, / is %2F, # is %23, ? is %3F, % is %25, a blank is %20.',
  );

const decode = (text: string): string => {
  try {
    const decoded = decodeURIComponent(text);
    if (!decoded.includes('\0')) return decoded;
  } catch {
    // Not rethrown, because this error may repeat the password.
  }
  throw notEscaped();
};

/** Values of `ssl` as sslmode, as in node-postgres; libpq knows only `ssl=true`. */
const modesOfSsl: Readonly<Record<string, string>> = {
  true: 'verify-full',
  1: 'verify-full',
  false: 'disable',
  0: 'disable',
  'no-verify': 'no-verify',
};

/** As in libpq, the last of two equal names counts. */
const collect = (pairs: readonly (readonly [string, string])[]): Record<string, string> => {
  const found: Record<string, string> = {};
  for (const [name, value] of pairs) {
    if (name === 'ssl') found['sslmode'] = modesOfSsl[value] ?? value;
    // `uselibpqcompat` asks node-postgres to read sslmode as libpq does, which we always do.
    else if (name !== 'uselibpqcompat') found[name] = value;
  }
  return found;
};

const hostPattern = /^(?<host>\[[\da-f:.%]+\]|[^:[\]]*)(?::(?<port>\d*))?$/i;

const readHosts = (text: string): (readonly [string, string])[] => {
  const found = text.split(',').map((one) => hostPattern.exec(one)?.groups);
  const hosts = found.map((groups) => {
    if (groups === undefined) throw usage('the host or port in the database URL is not valid', looksLike);
    return { host: decode(groups['host']!.replace(/^\[(.*)\]$/, '$1')), port: groups['port'] ?? '' };
  });
  const lists = { host: hosts.map(({ host }) => host), port: hosts.map(({ port }) => port) };
  return Object.entries(lists)
    .filter(([, values]) => values.some(Boolean))
    .map(([name, values]) => [name, values.join(',')] as const);
};

const readUser = (text: string): (readonly [string, string])[] => {
  const [user = '', ...password] = text.split(':');
  return [['user', decode(user)] as const, ['password', decode(password.join(':'))] as const].filter(
    ([, value]) => value !== '',
  );
};

const readQuery = (text: string): (readonly [string, string])[] =>
  text
    .split('&')
    .filter(Boolean)
    .map((pair) => {
      const end = pair.indexOf('=');
      if (end === -1) throw usage('a parameter in the database URL has no value', looksLike);
      const [name, value] = [decode(pair.slice(0, end)), pair.slice(end + 1)];
      if (name === 'options') return [name, decode(value.replaceAll('+', '%20'))] as const;
      if (value.includes('=')) throw usage('a parameter in the database URL has a second =', looksLike);
      return [name, decode(value)] as const;
    });

const readUrl = (rest: string): Parameters => {
  // Programs split URLs with an unescaped `@` or `#` differently.
  if (/[\s#]/.test(rest)) throw notEscaped();
  const authority = /^[^/?]*/.exec(rest)![0];
  const [, path = '', query = ''] = /^\/?([^?]*)\??(.*)$/.exec(rest.slice(authority.length))!;
  const parts = authority.split('@');
  const isUserUnclear = parts.length === 1 && rest[authority.length] === '?' && query.includes('@');
  if (parts.length > 2 || path.includes('@') || isUserUnclear) throw notEscaped();
  try {
    const pairs = [
      ...(parts.length === 2 ? readUser(parts[0]!) : []),
      ...readHosts(parts.at(-1)!),
      ...(path === '' ? [] : [['dbname', decode(path)] as const]),
      ...readQuery(query),
    ];
    return checkParameters(collect(pairs), 'the database URL');
  } catch (error) {
    // If the query contains @, it is probably a part of a password.
    throw query.includes('@') ? notEscaped() : error;
  }
};

const readPairs = (text: string): Parameters => {
  const pattern =
    /\s*(?<name>[^\s=]+)\s*=\s*(?:'(?<quoted>(?:[^'\\]|\\.)*)'|(?<plain>(?!')(?:[^\s\\]|\\.)*))(?=\s|$)/sy;
  const pairs: (readonly [string, string])[] = [];
  let end = 0;
  for (let found = pattern.exec(text); found !== null; found = pattern.exec(text)) {
    const { name, quoted, plain } = found.groups!;
    pairs.push([name!, (quoted ?? plain ?? '').replaceAll(/\\(.)/gs, '$1')]);
    end = pattern.lastIndex;
  }
  if (text.slice(end).trim() === '') return checkParameters(collect(pairs), 'the connection string');
  const advice = "Quote a value that has blanks or quotes, and escape ' and \\ in it: password='it\\'s'.";
  throw usage(`the connection string cannot be read from its parameter ${pairs.length + 1} on`, advice);
};

/** Errors: ETL_USAGE, which never repeats a password. */
export const readConnectionString = (given: string): Parameters => {
  const text = given.trim();
  const [, rest] = /^postgres(?:ql)?:\/\/(.*)$/s.exec(text) ?? [];
  if (rest !== undefined) return readUrl(rest);
  if (text === '') throw usage('the database URL is empty', looksLike);
  if (/^\w+\s*=/.test(text)) return readPairs(text);
  throw usage('the database URL does not begin with postgres://, nor is it keyword=value pairs', looksLike);
};
