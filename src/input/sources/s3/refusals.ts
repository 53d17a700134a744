// Turns refusals of S3 servers into errors: by S3's code, or else by the status.

import { EtlError } from '../../../core/errors/errors.ts';
import type { NamedFile } from '../contract.ts';
import { S3Refusal } from './client.ts';
import { CredentialsProblem } from './credentials.ts';

interface Meaning {
  readonly code:
    | 'ETL_SOURCE_ADDRESS'
    | 'ETL_SOURCE_ARCHIVED'
    | 'ETL_SOURCE_CHANGED'
    | 'ETL_SOURCE_CREDENTIALS'
    | 'ETL_SOURCE_DENIED'
    | 'ETL_SOURCE_GONE';
  readonly problem: string;
  readonly hint: string;
}

const credentials = (problem: string, hint: string): Meaning => ({
  code: 'ETL_SOURCE_CREDENTIALS',
  problem,
  hint,
});
const address = (problem: string, hint: string): Meaning => ({ code: 'ETL_SOURCE_ADDRESS', problem, hint });

const checkKeys =
  'Check AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_PROFILE, and that they are for this server.';
const expired = credentials(
  'they have expired',
  'Fetch temporary credentials again, then run again: loaded chunks are kept.',
);
const elsewhere = address(
  'the bucket is in another region, or on another server',
  "Name the bucket's region: csv(…, { region: '…' }) or AWS_REGION. Check AWS_ENDPOINT_URL_S3.",
);

const meanings: Readonly<Record<string, Meaning>> = {
  AccessDenied: {
    code: 'ETL_SOURCE_DENIED',
    problem: 'the credentials do not allow it',
    hint: 'They need s3:GetObject, and s3:ListBucket for globs. In some buckets the reader pays: csv(…, { requesterPays: true }).',
  },
  NoSuchKey: {
    code: 'ETL_SOURCE_GONE',
    problem: 'no such key',
    hint: 'Check bucket and key; upper and lower case differ.',
  },
  PreconditionFailed: { code: 'ETL_SOURCE_CHANGED', problem: 'another version', hint: '' },
  NoSuchBucket: address('there is no such bucket', "Check the bucket's name, and AWS_ENDPOINT_URL_S3."),
  InvalidBucketName: address('no bucket can have this name', "Check the bucket's name."),
  InvalidObjectState: {
    code: 'ETL_SOURCE_ARCHIVED',
    problem: 'the object is archived',
    hint: "Restore it (aws s3api restore-object), or leave it out: csv(['s3://…', '!s3://bucket/key']).",
  },
  InvalidAccessKeyId: credentials('the server does not know the access key', checkKeys),
  SignatureDoesNotMatch: credentials('the secret key does not belong to the access key', checkKeys),
  InvalidToken: credentials('the session token is not valid', checkKeys),
  ExpiredToken: expired,
  TokenRefreshRequired: expired,
  RequestTimeTooSkewed: credentials(
    "this machine's clock differs from the server's",
    'Set the clock of this machine: a signature is valid for 15 minutes.',
  ),
  PermanentRedirect: elsewhere,
  TemporaryRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
};

/** The code to assume for a status, if the answer has no known code. */
const statuses: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  401: 'AccessDenied',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
};

/** The error of a file for what `send` has thrown; other errors unchanged. */
export const s3Error = ({ table, name }: NamedFile, thrown: unknown): unknown => {
  if (thrown instanceof CredentialsProblem) {
    const details = { table, file: name, problem: thrown.message, hint: thrown.hint };
    return new EtlError('ETL_SOURCE_CREDENTIALS', details, { cause: thrown });
  }
  if (!(thrown instanceof S3Refusal)) return thrown;
  const { status, code = '' } = thrown;
  const meaning = Object.hasOwn(meanings, code) ? meanings[code] : meanings[statuses[status] ?? ''];
  const {
    code: ours,
    problem,
    hint,
  } = meaning ??
  address('its answer is not one of an S3 server', 'Check AWS_ENDPOINT_URL_S3 and the option endpoint.');
  const details = { table, file: name, problem: `${problem}: ${thrown.message}`, hint };
  return new EtlError(ours, details, { cause: thrown });
};
