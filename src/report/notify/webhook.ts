// The channel for webhooks: JSON, signed as https://www.standardwebhooks.com specifies.

import { createRequire } from 'node:module';
import type * as StandardWebhooks from 'standardwebhooks';
import { UnusableSecret, type Attempt, type Channel } from './contract.ts';

const form = /^(?:whsec_)?[A-Za-z0-9+/]{16,}={0,2}$/;

/** Loads the library with the first signature, because most runs send none. */
const loadWebhooks = () => createRequire(import.meta.url)('standardwebhooks') as typeof StandardWebhooks;

const signature = ({ id, at, secret }: Attempt, body: string): Readonly<Record<string, string>> => {
  if (secret === undefined) return {};
  // The library's error would contain a part of the secret.
  if (!form.test(secret)) throw new UnusableSecret('it must be base64, optionally with whsec_ before it');
  const { Webhook } = loadWebhooks();
  return { 'webhook-signature': new Webhook(secret).sign(id, at, body) };
};

export const webhookChannel: Channel = {
  isSigned: true,
  request: (attempt) => {
    const body = JSON.stringify(attempt.notification);
    return {
      body,
      headers: {
        'webhook-id': attempt.id,
        'webhook-timestamp': String(Math.floor(attempt.at.getTime() / 1000)),
        ...signature(attempt, body),
      },
    };
  },
};
