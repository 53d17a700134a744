// Which requests are refused whatever they ask for, and what every answer tells the browser: nothing from elsewhere, no script or
// style inside a page, no frame around it.

const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export const safeHeaders: Readonly<Record<string, string>> = {
  'content-security-policy': policy,
  'x-content-type-options': 'nosniff',
  'x-frame-options': 'DENY',
  // Not `no-referrer`: a form would be sent with the origin `null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** A form of ours has a few short fields. */
const bodyBytesMax = 16 * 1024;

export interface Refusal {
  readonly status: 405 | 411 | 413;
  readonly text: string;
}

const readMethods = new Set(['GET', 'HEAD']);
export const formMethods = new Set(['POST']);
/** By which BullMQ's board changes something. */
export const boardMethods = new Set(['POST', 'PUT', 'PATCH']);

/** Why a request is refused before anything of its body is read; undefined: it is not. */
export const refusalOf = (
  { method, headers }: Request,
  changing: ReadonlySet<string>,
): Refusal | undefined => {
  if (readMethods.has(method)) return undefined;
  if (!changing.has(method)) return { status: 405, text: 'This method is not answered here.' };
  const length = headers.get('content-length');
  // A body that does not say its length may have any.
  if (length === null || !/^\d{1,15}$/.test(length)) return { status: 411, text: 'The length is missing.' };
  return Number(length) > bodyBytesMax ? { status: 413, text: 'This is too large.' } : undefined;
};
