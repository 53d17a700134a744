// Options of csv() for URLs.

import type { SourceOptions } from '../../../core/declaration.ts';
import type { Access, NamedFile, OptionRule } from '../contract.ts';
import type { HttpOptions, HttpTimeouts } from './declared.ts';
import type { HttpRequest } from './request.ts';
import type { Patience } from '../resume.ts';
import { isSecret } from '../../../core/secret.ts';
import { secretValue } from '../secret.ts';

const timeoutsDefault: Required<HttpTimeouts> = {
  connectMs: 10_000,
  headersMs: 60_000,
  idleMs: 60_000,
  retryMs: 120_000,
};

/** Tries without receiving a byte. A read is worth more tries than a look at the version. */
const readTries = 10;
const lookTries = 5;

/** Longest timer of Node. */
const timeoutMsMax = 2 ** 31 - 1;

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const headerName = /^[\w!#$%&'*+.^`|~-]+$/;
const headerText = /^[\t\x20-\x7e\x80-\xff]*$/;
const ourHeaders =
  /^(?:range|if-.*|host|connection|accept-encoding|transfer-encoding|content-.*|te|upgrade|trailer|expect)$/i;
const secretHeader = /auth|cookie|token|secret|passw|api-?key|access-?key/i;

const isHeader = ([name, value]: readonly [string, unknown]): boolean =>
  headerName.test(name) &&
  !ourHeaders.test(name) &&
  (isSecret(value) || (typeof value === 'string' && headerText.test(value) && !secretHeader.test(name)));

const isTimeout = ([name, value]: readonly [string, unknown]): boolean =>
  Object.hasOwn(timeoutsDefault, name) &&
  Number.isSafeInteger(value) &&
  Number(value) >= 0 &&
  Number(value) <= timeoutMsMax;

export const httpOptionRules: Readonly<Record<keyof HttpOptions, OptionRule>> = {
  headers: {
    must: "an object of header names and texts, with env('NAME') for secrets, and without headers for ranges, encodings and connections",
    holds: (value) => isObject(value) && Object.entries(value).every(isHeader),
  },
  bearer: { must: "env('NAME'), the name of the environment variable that holds the token", holds: isSecret },
  basic: {
    must: "{ user: 'name', password: env('NAME') }",
    holds: (value) =>
      isObject(value) &&
      Object.keys(value).length === 2 &&
      typeof value['user'] === 'string' &&
      !value['user'].includes(':') &&
      isSecret(value['password']),
  },
  allowPrivate: { must: 'true or false', holds: (value) => typeof value === 'boolean' },
  timeouts: {
    must: `an object of ${Object.keys(timeoutsDefault).join(', ')}, in milliseconds`,
    holds: (value) => isObject(value) && Object.entries(value).every(isTimeout),
  },
};

const credentialsOf = (
  { headers = {}, bearer, basic }: HttpOptions,
  table: string,
): Readonly<Record<string, string>> => {
  const texts = Object.entries(headers).map(([name, value]): [string, string] => [
    name.toLowerCase(),
    typeof value === 'string' ? value : secretValue(value, table),
  ]);
  const own = Object.fromEntries(texts);
  if (bearer !== undefined) own['authorization'] = `Bearer ${secretValue(bearer, table)}`;
  if (basic !== undefined) {
    const pair = `${basic.user}:${secretValue(basic.password, table)}`;
    own['authorization'] = `Basic ${Buffer.from(pair).toString('base64')}`;
  }
  return own;
};

export const httpSettings = (
  file: NamedFile,
  { declared, signal }: Access,
): Pick<HttpRequest, 'file' | 'credentials' | 'allowPrivate' | 'timeouts' | 'signal'> & {
  readonly patience: { readonly look: Patience; readonly read: Patience };
} => {
  const options: SourceOptions & HttpOptions = declared.options;
  const timeouts = { ...timeoutsDefault, ...options.timeouts };
  const { retryMs: ms } = timeouts;
  return {
    file,
    credentials: credentialsOf(options, file.table),
    allowPrivate: options.allowPrivate ?? false,
    timeouts,
    signal,
    patience: { look: { tries: lookTries, ms }, read: { tries: readTries, ms } },
  };
};
