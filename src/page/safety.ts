// HTTP rules for every request and answer: the methods and body sizes that are accepted, and
// headers that forbid foreign content, inline scripts and frames.

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
  // Not `no-referrer`, with which browsers send forms with the origin `null`.
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
};

/** The page's forms have a few short fields. */
const bodyBytesMax = 16 * 1024;

export interface Refusal {
  readonly status: 405 | 411 | 413;
  readonly text: string;
}

const readMethods = new Set(['GET', 'HEAD']);
export const formMethods = new Set(['POST']);
/** Methods with which BullMQ's board changes something. */
export const boardMethods = new Set(['POST', 'PUT', 'PATCH']);

/** Returns why a request is refused by its method or length; undefined if it is accepted. */
export const headerRefusal = (
  { method, headers }: Request,
  changing: ReadonlySet<string>,
): Refusal | undefined => {
  if (readMethods.has(method)) return undefined;
  if (!changing.has(method)) return { status: 405, text: 'This method is not answered here.' };
  const length = headers.get('content-length');
  // Without a length, the body could be of any size.
  if (length === null || !/^\d{1,15}$/.test(length)) return { status: 411, text: 'The length is missing.' };
  return Number(length) > bodyBytesMax ? { status: 413, text: 'This is too large.' } : undefined;
};
