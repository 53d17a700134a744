// Receivers that a command line names: variables with their URLs.

import type { Receiver } from '../../core/declaration/notification.ts';
import { env } from '../../pipeline/declare/env.ts';
import { webhook } from '../../pipeline/declare/notify.ts';

/** HOOK is a webhook at the URL in HOOK; its requests are signed if there is a HOOK_SECRET. */
export const receiversIn = (
  names: readonly string[],
  variables: Readonly<Record<string, string | undefined>>,
): readonly Receiver[] =>
  names.map((name) => {
    const secret = `${name}_SECRET`;
    return webhook(env(name), variables[secret] ? { secret: env(secret) } : {});
  });
