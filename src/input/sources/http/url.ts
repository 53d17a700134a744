// URLs of a table: ranges in braces, checks, and how URLs are stored without their secrets.

import { inQuotes } from '../../../core/wording.ts';
import { writtenDirectory } from '../confine.ts';

/** More URLs are probably a range with a digit too many. */
const expansionsMax = 1_000_000;

const braces = /\{([^{}]*)\}/;
const range = /^(\d+)\.\.(\d+)$/;

const choices = (inside: string): number | undefined => {
  const [, first, last] = range.exec(inside) ?? [];
  if (first !== undefined) return Math.abs(Number(last) - Number(first)) + 1;
  return inside.includes(',') ? inside.split(',').length : undefined;
};

function* numbersOf(first: string, last: string): Generator<string, void> {
  const isPadded = [first, last].some((text) => text.length > 1 && text.startsWith('0'));
  const width = isPadded ? Math.max(first.length, last.length) : 0;
  const [from, to] = [Number(first), Number(last)];
  const step = from <= to ? 1 : -1;
  for (let number = from; number !== to + step; number += step) yield String(number).padStart(width, '0');
}

const chosen = (inside: string): Iterable<string> => {
  const [, first, last] = range.exec(inside) ?? [];
  return first === undefined || last === undefined ? inside.split(',') : numbersOf(first, last);
};

export function* expandBraces(location: string): Generator<string, void> {
  const found = braces.exec(location);
  if (found === null) {
    yield location;
    return;
  }
  const before = location.slice(0, found.index);
  const after = location.slice(found.index + found[0].length);
  for (const text of chosen(found[1]!)) yield* expandBraces(before + text + after);
}

const bracesProblem = (location: string): string | undefined => {
  const each = [...location.matchAll(new RegExp(braces, 'g'))].map(([, inside]) => choices(inside!));
  if (each.includes(undefined) || /[{}]/.test(location.replaceAll(new RegExp(braces, 'g'), '')))
    return 'has braces that are neither a range {01..12} nor a list {a,b}; write %7B and %7D for real ones';
  const number = each.reduce<number>((product, one) => product * one!, 1);
  return number > expansionsMax
    ? `names ${number} files, and no more than ${expansionsMax} may be named`
    : undefined;
};

export const urlProblem = (location: string): string | undefined => {
  const problem = bracesProblem(location);
  if (problem !== undefined) return problem;
  const [first] = expandBraces(location);
  if (!URL.canParse(first!)) return 'is not a URL';
  const { username, password, pathname, origin } = new URL(first!);
  if (username !== '' || password !== '')
    return `has a user or password in it, which would be stored; write ${origin}${pathname} and give basic: { user, password: env('NAME') }`;
  if (pathname.includes('*'))
    return 'has a *, and HTTP cannot list files; name a range {01..12}, a list {a,b}, or every file (%2A for a real one)';
  return undefined;
};

/** True if the path has `..` once it is decoded again, as some servers do. */
const climbs = ({ pathname }: URL): boolean => decoded(pathname).split(/[/\\]/).includes('..');

const namesOf = ({ searchParams, hash }: URL): string => [...searchParams.keys(), hash === ''].join('&');

const notPath = /[{?#]/;

/**
 * True if a parameter changed only the path below the author's directory, or a value of the query:
 * not the host, and not the names in the query.
 *
 * @param varied the location with another value of the parameter
 */
export const isAsWritten = (url: URL, location: string, varied: string): boolean => {
  const directory = writtenDirectory(location, varied, notPath);
  const base = URL.canParse(directory) ? new URL(directory).pathname : '/';
  return (
    url.pathname.startsWith(base) &&
    !climbs(url) &&
    [...expandBraces(varied)].some((text) => {
      const other = URL.canParse(text) ? new URL(text) : undefined;
      return other?.protocol === url.protocol && other.host === url.host && namesOf(other) === namesOf(url);
    })
  );
};

const secretName = /sig|token|secret|passw|pwd|auth|cred|api-?_?key|access-?_?key|^key$|jwt|session/i;

const shownSecret = '***';

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** Parameters of signed URLs. They are hidden, so that a URL signed again is the same file. */
const signings: readonly { readonly signature: RegExp; readonly others: RegExp }[] = [
  { signature: /^x-amz-signature$/i, others: /^x-amz-/i },
  { signature: /^x-goog-signature$/i, others: /^x-goog-/i },
  {
    signature: /^sig$/i,
    others: /^(?:s[evtpr]|spr|sip|srt|ss|sdd|sks|skv|ske|skt|skoid|sktid|saoid|suoid|scid)$/i,
  },
  { signature: /^signature$/i, others: /^(?:expires|policy|key-pair-id|awsaccesskeyid|googleaccessid)$/i },
];

export const withoutSecrets = (url: URL): string => {
  const names = [...url.searchParams.keys()];
  const others = signings
    .filter(({ signature }) => names.some((name) => signature.test(name)))
    .map((signing) => signing.others);
  const query = url.search.replace(/([?&])([^=&]*)=[^&]*/g, (all, before: string, written: string) => {
    const name = decoded(written);
    const isHidden = secretName.test(name) || others.some((other) => other.test(name));
    return isHidden ? `${before}${written}=${shownSecret}` : all;
  });
  return url.origin + url.pathname + query;
};

export const holdsSecret = (location: string): boolean =>
  /^https?:/i.test(location) &&
  URL.canParse(location) &&
  withoutSecrets(new URL(location)).includes(`=${shownSecret}`);

/** Finds the declared URL, which has the secrets that the stored `location` lacks. */
export const urlOf = (location: string, declared: readonly string[]): URL => {
  if (!location.includes(`=${shownSecret}`)) return new URL(location);
  for (const one of declared)
    for (const text of expandBraces(one))
      if (URL.canParse(text) && withoutSecrets(new URL(text)) === location) return new URL(text);
  throw new Error(`the table no longer names ${inQuotes(location)}`);
};
