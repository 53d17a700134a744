// Node's own functions in the place of WebCrypto's, by which node-postgres proves that it knows a password.
//
// For the first call of WebCrypto Node loads and compiles some twenty of its modules, in every thread: that takes as long as loading
// all of node-postgres. And what a password is stretched to is the same for each connection of a process to a server.

import { createHash, createHmac, pbkdf2 } from 'node:crypto';
import { promisify } from 'node:util';

/** The functions of `pg/lib/crypto/utils` that are replaced. */
interface DriverCrypto {
  sha256(data: Uint8Array): Promise<Uint8Array>;
  hmacSha256(key: Uint8Array, text: string): Promise<Uint8Array>;
  deriveKey(password: string, salt: Uint8Array, iterations: number): Promise<Uint8Array>;
}

/** SHA-256's. RFC 7677. */
const keyBytes = 32;
const stretch = promisify(pbkdf2);

/** The last one: a process mostly has one password. */
let derived: { readonly of: string; readonly key: Promise<Uint8Array> } | undefined;

const deriveKey: DriverCrypto['deriveKey'] = (password, salt, iterations) => {
  const of = JSON.stringify([password, Buffer.from(salt).toString('base64'), iterations]);
  if (derived?.of === of) return derived.key;
  const key = stretch(password, salt, iterations, keyBytes, 'sha256');
  derived = { of, key };
  key.catch(() => (derived = undefined));
  return key;
};

/** Replaces them in the driver's module, for the whole process: they give the same results. */
export const useNodeCrypto = (driver: DriverCrypto): void => {
  Object.assign(driver, {
    sha256: async (data) => createHash('sha256').update(data).digest(),
    hmacSha256: async (key, text) => createHmac('sha256', key).update(text).digest(),
    deriveKey,
  } satisfies DriverCrypto);
};
