// What a session shows of its server, and whether target_session_attrs wants that.

/** What a session shows of its server. */
export interface SessionKind {
  readonly isStandby: boolean;
  readonly isReadOnly: boolean;
}

/** What is wrong with a session for this value of target_session_attrs; undefined: it will do. */
const mismatchOf = (target: string, { isStandby, isReadOnly }: SessionKind): string | undefined => {
  if (target === 'read-write' && isReadOnly)
    return isStandby ? 'it is a standby' : 'its sessions are read-only';
  if (target === 'read-only' && !isReadOnly) return 'its sessions are not read-only';
  if (target === 'primary' && isStandby) return 'it is a standby';
  return target === 'standby' && !isStandby ? 'it is not a standby' : undefined;
};

/** Code of a server whose sessions are of another kind: it changes with a failover, so it is waited for. */
export const unfitSession = 'UNFIT_SESSION';

/** Errors: one with the code `unfitSession`. */
export const refuseUnfit = (target: string, kind: SessionKind): void => {
  const problem = mismatchOf(target, kind);
  if (problem !== undefined)
    throw Object.assign(new Error(`${problem}, and target_session_attrs is ${target}`), {
      code: unfitSession,
    });
};
