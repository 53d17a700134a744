// csv()'s options for S3. Pipelines use these types, so they must not need types of Node.js.
// Proved by test/package/production.test.ts.

/** Options of csv() for S3. */
export interface S3Options {
  /** URL of another server than AWS. */
  readonly endpoint?: string;
  /** Default: from the environment or the profile, else the bucket's own region. */
  readonly region?: string;
  /** Name of a profile in ~/.aws/config or ~/.aws/credentials. */
  readonly profile?: string;
  /** Sends requests without credentials, to public buckets. */
  readonly anonymous?: boolean;
  /** Agrees to pay for requests and transfer, which some buckets demand. */
  readonly requesterPays?: boolean;
}
