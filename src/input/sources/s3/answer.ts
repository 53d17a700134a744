// Reads credentials from a JSON text.

import { CredentialsProblem, type Credentials } from './credentials.ts';

/** `where` names the text's origin in the error. Throws CredentialsProblem. */
export const credentialsIn = (text: string, where: string): Credentials => {
  let given: Record<string, unknown> = {};
  try {
    given = Object(JSON.parse(text)) as Record<string, unknown>;
  } catch {
    // Reported below without the parser's message, which quotes the text and its secrets.
  }
  const { AccessKeyId, SecretAccessKey, Token, SessionToken, Expiration } = given;
  if (typeof AccessKeyId !== 'string' || typeof SecretAccessKey !== 'string')
    throw new CredentialsProblem(
      `${where} gave no credentials`,
      'The answer must be JSON with AccessKeyId and SecretAccessKey. Check the role, or the program that gives it.',
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
