// The options of csv() for S3, as types. The types of a pipeline lead here, and must not need those of Node.js
// (test/package/production.test.ts).

/** The options of csv() for S3. */
export interface S3Options {
  /** A server other than AWS, as a URL. */
  readonly endpoint?: string;
  readonly region?: string;
  /** Of ~/.aws/config and ~/.aws/credentials. */
  readonly profile?: string;
  /** Requests are not signed: for public buckets. */
  readonly anonymous?: boolean;
  /** Agrees to pay for requests and transfer. */
  readonly requesterPays?: boolean;
}
