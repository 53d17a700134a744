// Tries hosts in turn until one matches target_session_attrs.

import { codeOf, EtlError } from '../../core/errors/errors.ts';
import { retryOf } from '../retry.ts';
import { labelOf, type Host, type ServerConfig } from './config.ts';
import { absenceCodes } from './connect-error.ts';
import { unfitSession } from './session-kind.ts';

interface Failure {
  readonly host: Host;
  readonly error: EtlError;
}

/** True if the next host is tried. As in libpq, other errors, such as a refusal, end the search. */
const isPassedOver = (error: unknown): error is EtlError =>
  error instanceof EtlError &&
  error.code === 'ETL_CONNECT' &&
  [unfitSession, ...absenceCodes].includes(codeOf(error.cause) ?? '');

/** Lists the attempts. `prefer-standby` tries all hosts for a standby, then all for any session. */
const candidatesOf = (config: ServerConfig): readonly ServerConfig[] => {
  const targets = config.target === 'prefer-standby' ? ['standby', 'any'] : [config.target];
  return targets.flatMap((target) => config.hosts.map((host) => ({ ...config, target, hosts: [host] })));
};

/** Joins the hosts' errors into one error, which can be retried if any of them can. */
const joined = (label: string, failures: readonly Failure[]): EtlError => {
  const { error } = failures.findLast((failure) => retryOf(failure.error) === 'server') ?? failures.at(-1)!;
  if (failures.length === 1) return error;
  const problems = failures.map(
    ({ host: { host, port }, error: { details } }) => `${host}:${port}: ${String(details['problem'])}`,
  );
  const details = { ...error.details, server: label, problem: [...new Set(problems)].join('; ') };
  return new EtlError('ETL_CONNECT', details, { cause: error.cause });
};

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

const preferred = new WeakMap<readonly Host[], Host>();

/** Keeps one host, for a library that cannot try several: the host reached last, or the first. */
export const onPreferredHost = (config: ServerConfig): ServerConfig => ({
  ...config,
  hosts: [preferred.get(config.hosts) ?? config.hosts[0]!],
});

/** Prefers the host after the failed one, unless another host was reached meanwhile. */
export const preferNextHost = ({ hosts }: ServerConfig, failed: Host): void => {
  if ((preferred.get(hosts) ?? hosts[0]) === failed)
    preferred.set(hosts, hosts[(hosts.indexOf(failed) + 1) % hosts.length]!);
};
