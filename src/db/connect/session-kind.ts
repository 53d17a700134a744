// Compares a session with target_session_attrs.

interface SessionKind {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

const mismatchOf = (target: string, { isStandby, isReadOnly }: SessionKind): string | undefined => {
  if (target === 'read-write' && isReadOnly)
    return isStandby ? 'it is a standby' : 'its sessions are read-only';
  if (target === 'read-only' && !isReadOnly) return 'its sessions are not read-only';
  if (target === 'primary' && isStandby) return 'it is a standby';
  return target === 'standby' && !isStandby ? 'it is not a standby' : undefined;
};

/** Code of the error for a host with another role. Retried: a failover may change the role. */
export const unfitSession = 'UNFIT_SESSION';

export const refuseUnfit = (target: string, kind: SessionKind): void => {
  const problem = mismatchOf(target, kind);
  if (problem !== undefined)
    throw Object.assign(new Error(`${problem}, and target_session_attrs is ${target}`), {
      code: unfitSession,
    });
};
