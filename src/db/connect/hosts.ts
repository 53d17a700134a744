// Which of several hosts to use: each is tried in turn, until one is reached whose sessions are as target_session_attrs wants
// them. PostgreSQL, "Specifying Multiple Hosts".

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { retryOf } from '../retry.ts';
import { labelOf, type Host, type ServerConfig } from './config.ts';
import { absenceCodes } from './connect-error.ts';
import { unfitSession } from './session-kind.ts';

/** A host that could not be used, and why. */
interface Failure {
  readonly host: Host;
  readonly error: EtlError;
}

/** Whether the next host is tried: as in libpq, not if a server was reached and refused us. */
const isPassedOver = (error: unknown): error is EtlError =>
  error instanceof EtlError &&
  error.code === 'ETL_CONNECT' &&
  [unfitSession, ...absenceCodes].includes(codeOf(error.cause) ?? '');

/** For each host in turn, and for `prefer-standby` twice: the configuration of that host alone. */
const candidatesOf = (config: ServerConfig): readonly ServerConfig[] => {
  const targets = config.target === 'prefer-standby' ? ['standby', 'any'] : [config.target];
  return targets.flatMap((target) => config.hosts.map((host) => ({ ...config, target, hosts: [host] })));
};

/** One error for all hosts, each with what is wrong with it; it is worth waiting for if any of the errors is. */
const joined = (label: string, failures: readonly Failure[]): EtlError => {
  const { error } = failures.findLast((failure) => retryOf(failure.error) === 'server') ?? failures.at(-1)!;
  if (failures.length === 1) return error;
  const problems = failures.map(
    ({ host: { host, port }, error: { details } }) => `${host}:${port}: ${String(details['problem'])}`,
  );
  const details = { ...error.details, server: label, problem: [...new Set(problems)].join('; ') };
  return new EtlError('ETL_CONNECT', details, { cause: error.cause });
};

/**
 * Opens the first host that will do. Errors: the first that ends the search, or ETL_CONNECT with what is wrong with each host.
 */
export const openFirst = async <T>(
  config: ServerConfig,
  open: (candidate: ServerConfig) => Promise<T>,
): Promise<T> => {
  const failures: Failure[] = [];
  for (const candidate of candidatesOf(config)) {
    try {
      const opened = await open(candidate);
      preferred.set(config.hosts, candidate.hosts[0]!);
      return opened;
    } catch (error) {
      if (!isPassedOver(error)) throw error;
      failures.push({ host: candidate.hosts[0]!, error });
    }
  }
  throw joined(labelOf(config), failures);
};

/** The host that was reached last, for lists of hosts. */
const preferred = new WeakMap<readonly Host[], Host>();

/**
 * The configuration of the host that was reached last, or of the first: for a library that makes a client before it connects, and so
 * cannot try several.
 */
export const onPreferredHost = (config: ServerConfig): ServerConfig => ({
  ...config,
  hosts: [preferred.get(config.hosts) ?? config.hosts[0]!],
});

/** The library's next client is for the next host, unless another one was reached meanwhile. */
export const preferNextHost = ({ hosts }: ServerConfig, failed: Host): void => {
  if ((preferred.get(hosts) ?? hosts[0]) === failed)
    preferred.set(hosts, hosts[(hosts.indexOf(failed) + 1) % hosts.length]!);
};
