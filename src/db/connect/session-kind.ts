// Compares a session with target_session_attrs.

export interface SessionKind {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

/** Why the session does not match this value of target_session_attrs; undefined: it matches. */
const mismatchOf = (target: string, { isStandby, isReadOnly }: SessionKind): string | undefined => {
  if (target === 'read-write' && isReadOnly)
    return isStandby ? 'it is a standby' : 'its sessions are read-only';
  if (target === 'read-only' && !isReadOnly) return 'its sessions are not read-only';
  if (target === 'primary' && isStandby) return 'it is a standby';
  return target === 'standby' && !isStandby ? 'it is not a standby' : undefined;
};

/** Error code for such a host. A failover may change its role, so a run waits for it. */
export const unfitSession = 'UNFIT_SESSION';

/** Throws if the session does not match. Errors: code `unfitSession`. */
export const refuseUnfit = (target: string, kind: SessionKind): void => {
  const problem = mismatchOf(target, kind);
  if (problem !== undefined)
    throw Object.assign(new Error(`${problem}, and target_session_attrs is ${target}`), {
      code: unfitSession,
    });
};
