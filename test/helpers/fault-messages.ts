// Reads what a client sends to PostgreSQL, message by message, and names the effects: statements and COPY data.
//
// Source: "Frontend/Backend Protocol", Message Formats. The first packet has no type byte; every other message is a
// type byte and a length that counts itself.

export type EffectKind = 'query' | 'execute' | 'copy data' | 'copy done';

/** Something that a client asks the server to do. */
export interface Effect {
  readonly kind: EffectKind;
  /** The statement; of COPY messages, the COPY's. In one line. */
  readonly sql: string;
  /** The statement before this one on the same connection. */
  readonly previous: string;
  readonly application: string;
}

/** Bytes to forward, and the effect that begins with their first. */
export interface Piece {
  readonly bytes: Buffer;
  readonly effect: Effect | undefined;
  /** True if the server answers with a ReadyForQuery: to the login, a query and a sync. */
  readonly asks: boolean;
}

const headerBytes = 5;
const kinds: Readonly<Record<string, EffectKind>> = {
  Q: 'query',
  E: 'execute',
  d: 'copy data',
  c: 'copy done',
};

const textAt = (bytes: Buffer, from: number): string => bytes.toString('utf8', from, bytes.indexOf(0, from));

const oneLine = (sql: string): string => sql.replace(/\s+/g, ' ').trim();

/** What a connection has said so far. */
interface Session {
  application: string;
  sql: string;
  previous: string;
  readonly statements: Map<string, string>;
}

const say = (session: Session, sql: string): void => {
  session.previous = session.sql;
  session.sql = sql;
};

const effectOf = (session: Session, type: string, message: Buffer): Effect | undefined => {
  if (type === 'P') {
    const name = textAt(message, headerBytes);
    session.statements.set(name, oneLine(textAt(message, headerBytes + Buffer.byteLength(name) + 1)));
  }
  if (type === 'B') {
    const portal = textAt(message, headerBytes);
    const name = textAt(message, headerBytes + Buffer.byteLength(portal) + 1);
    say(session, session.statements.get(name) ?? '');
  }
  if (type === 'Q') say(session, oneLine(textAt(message, headerBytes)));
  const kind = kinds[type];
  if (kind === undefined) return undefined;
  const { sql, previous, application } = session;
  return { kind, sql, previous, application };
};

const applicationOf = (packet: Buffer): string => {
  const words = packet.toString('utf8', 8).split('\0');
  return words[words.indexOf('application_name') + 1] ?? '';
};

/** A reader of one connection: takes bytes as they come, gives whole messages (COPY data: as it comes). */
export const createMessageReader = (): ((chunk: Buffer) => readonly Piece[]) => {
  const session: Session = { application: '', sql: '', previous: '', statements: new Map() };
  let held: Buffer = Buffer.alloc(0);
  let bodyLeft = 0;
  let isStarted = false;

  const takeStartup = (pieces: Piece[]): boolean => {
    if (held.length < 4 || held.length < held.readInt32BE(0)) return false;
    const packet = held.subarray(0, held.readInt32BE(0));
    held = held.subarray(packet.length);
    session.application = applicationOf(packet);
    isStarted = true;
    pieces.push({ bytes: packet, effect: undefined, asks: true });
    return true;
  };
  const takeMessage = (pieces: Piece[]): boolean => {
    if (held.length < headerBytes) return false;
    const type = String.fromCharCode(held[0]!);
    const length = 1 + held.readInt32BE(1);
    if (held.length < length && type !== 'd') return false;
    const message = held.subarray(0, Math.min(length, held.length));
    held = held.subarray(message.length);
    bodyLeft = length - message.length;
    pieces.push({
      bytes: message,
      effect: effectOf(session, type, message),
      asks: type === 'Q' || type === 'S',
    });
    return true;
  };
  const takeBody = (pieces: Piece[]): boolean => {
    if (held.length === 0) return false;
    const body = held.subarray(0, bodyLeft);
    held = held.subarray(body.length);
    bodyLeft -= body.length;
    pieces.push({ bytes: body, effect: undefined, asks: false });
    return true;
  };
  return (chunk) => {
    const pieces: Piece[] = [];
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    for (;;) {
      const take = bodyLeft > 0 ? takeBody : isStarted ? takeMessage : takeStartup;
      if (!take(pieces)) return pieces;
    }
  };
};

/** Counts the ReadyForQuery messages in what a server sends: takes bytes as they come. */
export const createReadyCounter = (): ((chunk: Buffer) => number) => {
  let held: Buffer = Buffer.alloc(0);
  return (chunk) => {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk]);
    let count = 0;
    while (held.length >= headerBytes) {
      const length = 1 + held.readInt32BE(1);
      if (held.length < length) break;
      if (held[0] === 0x5a) count += 1;
      held = held.subarray(length);
    }
    return count;
  };
};
