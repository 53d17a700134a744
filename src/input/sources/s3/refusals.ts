// What a refusal of an S3 server means to the user: by S3's own code, or else by the status, never by a message.

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
  'Fetch temporary credentials again and run again: what is loaded stays loaded.',
);
const elsewhere = address(
  'the bucket is in another region, or on another server',
  "Name the bucket's region: csv(…, { region: '…' }) or AWS_REGION. Check AWS_ENDPOINT_URL_S3.",
);

const meanings: Readonly<Record<string, Meaning>> = {
  AccessDenied: {
    code: 'ETL_SOURCE_DENIED',
    problem: 'the credentials do not allow it',
    hint: 'They need s3:GetObject, and s3:ListBucket for globs. Others pay for some buckets: csv(…, { requesterPays: true }).',
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
    'Set the clock: a signature holds for 15 minutes.',
  ),
  PermanentRedirect: elsewhere,
  TemporaryRedirect: elsewhere,
  AuthorizationHeaderMalformed: elsewhere,
};

/** Of answers without a code that is known. */
const statuses: Readonly<Record<number, string>> = {
  301: 'PermanentRedirect',
  307: 'TemporaryRedirect',
  401: 'AccessDenied',
  403: 'AccessDenied',
  404: 'NoSuchKey',
  412: 'PreconditionFailed',
};

/** The error for what `send` has thrown. */
export const errorFor = ({ table, name }: NamedFile, thrown: unknown): unknown => {
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
  address('it answers as no S3 server does', 'Check AWS_ENDPOINT_URL_S3 and the option endpoint.');
  const details = { table, file: name, problem: `${problem}: ${thrown.message}`, hint };
  return new EtlError(ours, details, { cause: thrown });
};
