// libpq's connection parameters, as in PostgreSQL 18, and the values that sluice supports.
// test/unit/db/connect/parameters.test.ts compares docs/operations/connecting.md with this file.

import { EtlError } from '../../core/errors/errors.ts';
import { didYouMean } from '../../core/nearest.ts';

interface Parameter {
  readonly variable?: string;
  /** True if we ignore the environment variable: it changes neither the server nor the security. */
  readonly isVariableIgnored?: true;
  /** Supported values; without `values` and `why`, all values are supported. */
  readonly values?: readonly string[];
  readonly isNumber?: true;
  readonly why?: string;
}

const noGssapi = 'there is no GSSAPI support';
const noOauth = 'there is no OAuth support';
const socketOption = 'Node cannot set it; sluice itself notices a dead connection';

const table = {
  host: { variable: 'PGHOST' },
  hostaddr: { variable: 'PGHOSTADDR' },
  port: { variable: 'PGPORT' },
  dbname: { variable: 'PGDATABASE' },
  user: { variable: 'PGUSER' },
  password: { variable: 'PGPASSWORD' },
  passfile: { variable: 'PGPASSFILE' },
  require_auth: { variable: 'PGREQUIREAUTH' },
  channel_binding: { variable: 'PGCHANNELBINDING', values: ['disable', 'prefer', 'require'] },
  connect_timeout: { variable: 'PGCONNECT_TIMEOUT', isNumber: true },
  client_encoding: {
    variable: 'PGCLIENTENCODING',
    isVariableIgnored: true,
    values: ['UTF8', 'utf8', 'UTF-8', 'utf-8'],
    why: 'texts are sent in UTF-8',
  },
  options: { variable: 'PGOPTIONS' },
  application_name: { variable: 'PGAPPNAME', isVariableIgnored: true },
  fallback_application_name: {},
  keepalives: { values: ['0', '1'] },
  keepalives_idle: { isNumber: true },
  keepalives_interval: { values: ['0'], why: socketOption },
  keepalives_count: { values: ['0'], why: socketOption },
  tcp_user_timeout: { values: ['0'], why: socketOption },
  replication: { values: ['false', 'off', 'no', '0'], why: 'a run needs an ordinary session' },
  gssencmode: { variable: 'PGGSSENCMODE', values: ['disable', 'prefer'], why: noGssapi },
  sslmode: {
    variable: 'PGSSLMODE',
    // `no-verify` is node-postgres' word for libpq's `require` without a root certificate.
    values: ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full', 'no-verify'],
  },
  requiressl: { variable: 'PGREQUIRESSL', values: ['0', '1'] },
  sslnegotiation: { variable: 'PGSSLNEGOTIATION', values: ['postgres', 'direct'] },
  sslcompression: {
    variable: 'PGSSLCOMPRESSION',
    isVariableIgnored: true,
    values: ['0'],
    why: 'TLS no longer compresses',
  },
  sslcert: { variable: 'PGSSLCERT' },
  sslkey: { variable: 'PGSSLKEY' },
  sslkeylogfile: { why: 'it would write down the keys of the connection' },
  sslpassword: {},
  sslcertmode: {
    variable: 'PGSSLCERTMODE',
    values: ['disable', 'allow'],
    why: 'Node does not say whether the server asked for a certificate',
  },
  sslrootcert: { variable: 'PGSSLROOTCERT' },
  sslcrl: { variable: 'PGSSLCRL' },
  sslcrldir: { variable: 'PGSSLCRLDIR', why: 'name one file with sslcrl instead' },
  sslsni: { variable: 'PGSSLSNI', values: ['1'], why: 'node-postgres always names the host' },
  requirepeer: { variable: 'PGREQUIREPEER', why: 'Node does not say who owns the other end of a socket' },
  ssl_min_protocol_version: {
    variable: 'PGSSLMINPROTOCOLVERSION',
    values: ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'],
  },
  ssl_max_protocol_version: {
    variable: 'PGSSLMAXPROTOCOLVERSION',
    values: ['TLSv1', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'],
  },
  min_protocol_version: {
    variable: 'PGMINPROTOCOLVERSION',
    values: ['3.0'],
    why: 'node-postgres speaks version 3.0',
  },
  max_protocol_version: { variable: 'PGMAXPROTOCOLVERSION', values: ['3.0', '3.2', 'latest'] },
  krbsrvname: { variable: 'PGKRBSRVNAME', isVariableIgnored: true, why: noGssapi },
  gsslib: { variable: 'PGGSSLIB', isVariableIgnored: true, why: noGssapi },
  gssdelegation: { variable: 'PGGSSDELEGATION', isVariableIgnored: true, values: ['0'], why: noGssapi },
  scram_client_key: { why: 'node-postgres takes the password alone' },
  scram_server_key: { why: 'node-postgres takes the password alone' },
  service: { variable: 'PGSERVICE' },
  target_session_attrs: {
    variable: 'PGTARGETSESSIONATTRS',
    values: ['any', 'read-write', 'read-only', 'primary', 'standby', 'prefer-standby'],
  },
  load_balance_hosts: {
    variable: 'PGLOADBALANCEHOSTS',
    values: ['disable'],
    why: 'all connections of a run must reach the same server',
  },
  oauth_issuer: { why: noOauth },
  oauth_client_id: { why: noOauth },
  oauth_client_secret: { why: noOauth },
  oauth_scope: { why: noOauth },
} as const satisfies Readonly<Record<string, Parameter>>;

type ParameterName = keyof typeof table;
export type Parameters = Readonly<Partial<Record<ParameterName, string>>>;

export const parameterTable: Readonly<Record<ParameterName, Parameter>> = table;
export const parameterNames = Object.keys(table) as readonly ParameterName[];

const hint = 'docs/operations/connecting.md lists every parameter and its values.';

/** Creates an ETL_USAGE error; `problem` must never contain a password. */
export const usage = (problem: string, advice = hint): EtlError =>
  new EtlError('ETL_USAGE', { problem, hint: advice });

const isPort = (text: string): boolean =>
  text === '' || (/^\d+$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535);

const problemOf = (name: ParameterName, value: string): string | undefined => {
  const { values, isNumber, why } = parameterTable[name];
  if (name === 'port' && !value.split(',').every(isPort))
    return 'it must be a number from 1 to 65535, or one for each host, separated by commas';
  if (isNumber && !/^(?:-?\d{1,6})?$/.test(value)) return 'it must be a number of seconds';
  // As in libpq, an empty value means the default.
  if (value === '' || (values === undefined && why === undefined) || values?.includes(value))
    return undefined;
  // Repeats only a short, plain value; any other text may be a part of a password.
  const shown = /^[\w.-]{1,40}$/.test(value) ? ` '${value}'` : ' like that';
  if (why === undefined) return `there is no value${shown}${didYouMean(value, values ?? [])}`;
  if (values === undefined) return `it is not supported: ${why}`;
  const verb = values.length === 1 ? 'is' : 'are';
  return `only ${values.map((known) => `'${known}'`).join(', ')} ${verb} supported: ${why}`;
};

export const checkParameters = (given: Readonly<Record<string, string>>, where: string): Parameters => {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(table, name)) {
      const shown = /^\w{1,40}$/.test(name) ? ` \`${name}\`` : '';
      const meant = shown === '' ? '' : didYouMean(name, parameterNames);
      throw usage(`${where}: unknown parameter${shown}${meant}`);
    }
    const problem = problemOf(name as ParameterName, value);
    if (problem !== undefined) throw usage(`${where}: ${name}: ${problem}`);
  }
  return given;
};

export const parametersOfEnv = (env: NodeJS.ProcessEnv): Parameters => {
  const found: Partial<Record<ParameterName, string>> = {};
  for (const name of parameterNames) {
    const { variable, isVariableIgnored } = parameterTable[name];
    const value = variable === undefined || isVariableIgnored ? undefined : env[variable];
    if (!value) continue;
    const problem = problemOf(name, value);
    if (problem !== undefined) throw new EtlError('ETL_ENVIRONMENT', { variable: variable!, problem });
    found[name] = value;
  }
  return found;
};
