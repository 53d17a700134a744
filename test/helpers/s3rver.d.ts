// The part of s3rver that is used; the package has no types.

declare module 's3rver' {
  import type { IncomingMessage, ServerResponse } from 'node:http';

  export default class S3rver {
    constructor(options: { readonly directory: string; readonly silent: boolean });
    callback(): (request: IncomingMessage, response: ServerResponse) => Promise<void>;
  }
}
