// Reads credentials in the JSON that containers, instances and credential processes give.

import { CredentialsProblem, type Credentials } from './credentials.ts';

/** `where` names the giver in the error. Throws CredentialsProblem. */
export const credentialsIn = (text: string, where: string): Credentials => {
  let given: Record<string, unknown> = {};
  try {
    given = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    // Reported below: the text may hold secrets, and a parser's message quotes it.
  }
  const { AccessKeyId, SecretAccessKey, Token, SessionToken, Expiration } = given;
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string')
    throw new CredentialsProblem(
      `${where} gave no credentials`,
      'Its answer must be JSON with AccessKeyId and SecretAccessKey; check the role or the program behind it.',
    );
  const token = Token ?? SessionToken;
  const expires = typeof Expiration === 'string' ? Date.parse(Expiration) : Number.NaN;
  return {
    accessKeyId: AccessKeyId,
    secretAccessKey: SecretAccessKey,
    sessionToken: typeof token === 'string' ? token : undefined,
    expires: Number.isNaN(expires) ? undefined : expires,
  };
};
