// Credentials are found in the places and the order of AWS tools, renewed in time, and never shown.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { findCredentials, keepCredentials } from '../../../../../src/input/sources/s3/find.ts';
import { settingsOf } from '../../../../../src/input/sources/s3/settings.ts';
import { CredentialsProblem } from '../../../../../src/input/sources/s3/credentials.ts';
import { useFiles } from '../../../../helpers/files.ts';

const files = useFiles();
const secret = 'SECRET-of-the-test';
const inOneHour = new Date(Date.now() + 3_600_000).toISOString();

type Service = (request: IncomingMessage, body: string) => readonly [status: number, text: string];

let service: Service;
let asked: string[] = [];
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  let body = '';
  request.on('data', (data: Buffer) => (body += data.toString()));
  request.on('end', () => {
    asked.push(`${request.method} ${request.url}`);
    const [status, text] = service(request, body);
    response.writeHead(status).end(text);
  });
});
let host: string;

beforeAll(async () => {
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
  host = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  asked = [];
  service = () => [404, ''];
});

const config = files.write(
  'config',
  `# a comment
[default]
region = eu-central-1
[profile other]
region=us-west-2
endpoint_url = http://minio.example:9000
aws_access_key_id = general
s3 =
  addressing_style = path
[profile program]
credential_process = echo '{"Version":1,"AccessKeyId":"program","SecretAccessKey":"${secret}","SessionToken":"t"}'
[profile broken program]
credential_process = echo ${secret}; exit 3
[profile sso]
sso_session = corp
[profile role]
role_arn = arn:aws:iam::1:role/x
source_profile = other
[profile pod]
role_arn = arn:aws:iam::1:role/pod
web_identity_token_file = ${files.directory}/token
`,
);
const credentials = files.write(
  'credentials',
  `[default]\naws_access_key_id = default\naws_secret_access_key = ${secret}\n\n[other]\naws_access_key_id = other # mine\r\naws_secret_access_key = ${secret}=+/\n`,
);
files.write('token', 'token-of-the-pod\n');

/** These variables in an environment that has no credentials otherwise. */
const withEnv = (env: Record<string, string>) => ({
  AWS_CONFIG_FILE: `${files.directory}/none`,
  AWS_SHARED_CREDENTIALS_FILE: `${files.directory}/none`,
  AWS_EC2_METADATA_SERVICE_ENDPOINT: host,
  ...env,
});
const profiles = { AWS_CONFIG_FILE: config, AWS_SHARED_CREDENTIALS_FILE: credentials };
const find = (env: Record<string, string>, profile?: string) =>
  findCredentials({ env: withEnv(env), profile });
const keyOf = async (...given: Parameters<typeof find>) => (await find(...given)).accessKeyId;
const problemOf = async (...given: Parameters<typeof find>): Promise<CredentialsProblem> => {
  const error: unknown = await find(...given).catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(CredentialsProblem);
  expect(`${(error as Error).message} ${(error as CredentialsProblem).hint}`).not.toContain(secret);
  return error as CredentialsProblem;
};

const keys = { AWS_ACCESS_KEY_ID: 'env', AWS_SECRET_ACCESS_KEY: secret };

describe('the places', () => {
  it('are the environment, then the profile that it names or default, then the rest', async () => {
    expect(await find({ ...profiles, ...keys, AWS_SESSION_TOKEN: 's' })).toEqual({
      accessKeyId: 'env',
      secretAccessKey: secret,
      sessionToken: 's',
    });
    expect(await keyOf(profiles)).toBe('default');
    expect(await find({ ...profiles, AWS_PROFILE: 'other' })).toEqual({
      accessKeyId: 'other',
      secretAccessKey: `${secret}=+/`,
    });
    // A profile that the pipeline names goes before the environment.
    expect(await keyOf({ ...profiles, ...keys }, 'other')).toBe('other');
    expect(await find({ ...profiles, AWS_PROFILE: 'program' })).toEqual({
      accessKeyId: 'program',
      secretAccessKey: secret,
      sessionToken: 't',
    });
  });

  it('are all named if none has any', async () => {
    const { message, hint } = await problemOf({});
    expect(message).toMatch(/AWS_ACCESS_KEY_ID.*~\/\.aws\/credentials.*WEB_IDENTITY.*CONTAINER.*instance/);
    expect(hint).toContain('anonymous: true');
    expect(asked).toEqual(['PUT /latest/api/token']);
    await problemOf({ AWS_EC2_METADATA_DISABLED: 'true' });
    expect(asked).toHaveLength(1);
  });

  it.each([
    ['missing', 'there is no profile missing', 'list-profiles'],
    ['sso', 'signs in with SSO', 'aws configure export-credentials --profile sso'],
    ['role', 'assumes a role', 'aws configure export-credentials --profile role'],
    ['broken program', 'ended with 3', 'by hand'],
  ])('do not include the profile %s, and say why', async (name, problem, hint) => {
    const error = await problemOf({ ...profiles, AWS_PROFILE: name });
    expect(error.message).toContain(problem);
    expect(error.hint).toContain(hint);
  });

  it('refuse what a header could not hold, without showing it', async () => {
    const session = await problemOf({ ...keys, AWS_SESSION_TOKEN: `${secret}\nx` });
    const container = await problemOf({
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${host}/c`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN: `${secret}\u0001x`,
    });
    for (const { message } of [session, container]) expect(message).toContain('control characters');
    expect(asked).toEqual([]);
  });
});

const given = (name: string) =>
  JSON.stringify({ AccessKeyId: name, SecretAccessKey: secret, Token: 't', Expiration: inOneHour });
const found = (accessKeyId: string) => ({
  accessKeyId,
  secretAccessKey: secret,
  sessionToken: 't',
  expires: Date.parse(inOneHour),
});

describe('a container', () => {
  it('gives its credentials for the token that its file holds', async () => {
    service = ({ headers }) =>
      headers.authorization === 'token-of-the-pod' ? [200, given('pod')] : [401, ''];
    const env = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${host}/v1/credentials`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: `${files.directory}/token`,
    };
    expect(await find(env)).toEqual(found('pod'));
    const refused = await problemOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: `${host}/v1/credentials` });
    expect(refused.message).toContain('answered 401');
  });

  it('is asked without TLS on its own host only', async () => {
    const error = await problemOf({ AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.com/' });
    expect(error.message).toContain('must be https');
  });
});

describe('an instance', () => {
  const metadata: Service = ({ method, url, headers }) => {
    if (method === 'PUT') return [200, 'session'];
    if (headers['x-aws-ec2-metadata-token'] !== 'session') return [401, ''];
    return url!.endsWith('/reader') ? [200, given('instance')] : [200, 'reader'];
  };

  it('gives the credentials of its role in a session', async () => {
    service = metadata;
    expect(await find({})).toEqual(found('instance'));
  });

  it('without a role has none', async () => {
    service = (request, body) => (request.method === 'PUT' ? metadata(request, body) : [404, '']);
    expect((await problemOf({})).message).toContain('no credentials were found');
  });
});

describe('a web identity', () => {
  const env = () => ({
    AWS_WEB_IDENTITY_TOKEN_FILE: `${files.directory}/token`,
    AWS_ROLE_ARN: 'arn:aws:iam::1:role/pod',
    AWS_ENDPOINT_URL_STS: host,
  });
  const assumed = `<AssumeRoleWithWebIdentityResponse><AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>sts</AccessKeyId>
    <SecretAccessKey>${secret}</SecretAccessKey><SessionToken>t</SessionToken><Expiration>${inOneHour}</Expiration></Credentials>
    </AssumeRoleWithWebIdentityResult></AssumeRoleWithWebIdentityResponse>`;

  it('is exchanged for credentials, also by a profile', async () => {
    service = (_, body) =>
      body.includes('WebIdentityToken=token-of-the-pod&') || body.endsWith('=token-of-the-pod')
        ? [200, assumed]
        : [400, ''];
    expect(await find(env())).toEqual(found('sts'));
    expect(await find({ ...profiles, AWS_ENDPOINT_URL_STS: host }, 'pod')).toEqual(found('sts'));
  });

  it('that is refused names the code, the role and the file', async () => {
    service = () => [403, '<ErrorResponse><Error><Code>AccessDenied</Code></Error></ErrorResponse>'];
    const { message } = await problemOf(env());
    expect(message).toMatch(/role\/pod .*token: the token service answered 403 AccessDenied$/);
    const missing = await problemOf({ ...env(), AWS_WEB_IDENTITY_TOKEN_FILE: `${files.directory}/gone` });
    expect(missing.message).toContain('ENOENT');
  });
});

describe('credentials that are kept', () => {
  const lasting = (accessKeyId: string, seconds: number) => ({
    accessKeyId,
    secretAccessKey: secret,
    expires: Date.now() + seconds * 1_000,
  });

  it('are looked for once by all, and again before they expire or when a server says so', async () => {
    let looked = 0;
    const kept = keepCredentials(async () => {
      looked += 1;
      return lasting(String(looked), looked === 1 ? 60 : 3_600);
    });
    const [one, other] = await Promise.all([kept.get(), kept.get()]);
    expect([one.accessKeyId, other.accessKeyId]).toEqual(['1', '1']);
    const second = await kept.get();
    expect([second.accessKeyId, (await kept.get()).accessKeyId]).toEqual(['2', '2']);
    kept.forget(one);
    expect((await kept.get()).accessKeyId).toBe('2');
    kept.forget(second);
    expect((await kept.get()).accessKeyId).toBe('3');
  });

  it('are used until they expire if new ones cannot be had', async () => {
    const answers = [lasting('soon', 60)];
    const away = async () => {
      const next = answers.shift();
      if (next === undefined) throw new CredentialsProblem('away', '');
      return next;
    };
    const kept = keepCredentials(away);
    expect([(await kept.get()).accessKeyId, (await kept.get()).accessKeyId]).toEqual(['soon', 'soon']);
    answers.push(lasting('gone', -1));
    const late = keepCredentials(away);
    await late.get();
    await expect(late.get()).rejects.toThrow('away');
  });
});

it.each([
  [{}, {}, { region: 'us-east-1', endpoint: undefined }],
  [{}, profiles, { region: 'eu-central-1' }],
  [{}, { ...profiles, AWS_PROFILE: 'other' }, { region: 'us-west-2', endpoint: 'http://minio.example:9000' }],
  [{ profile: 'other' }, { ...profiles, AWS_DEFAULT_REGION: 'a-1' }, { region: 'a-1' }],
  [{}, { AWS_REGION: 'b-1', AWS_DEFAULT_REGION: 'a-1' }, { region: 'b-1' }],
  [{ region: 'c-1' }, { AWS_REGION: 'b-1' }, { region: 'c-1' }],
  [{}, { AWS_ENDPOINT_URL: 'http://a', AWS_ENDPOINT_URL_S3: 'http://b/' }, { endpoint: 'http://b' }],
  [{ endpoint: 'http://c' }, { AWS_ENDPOINT_URL_S3: 'http://b' }, { endpoint: 'http://c' }],
  [{ anonymous: true }, { ...profiles, AWS_PROFILE: 'missing' }, { credentials: undefined }],
  [{}, { AWS_REGION: 'evil.com/' }, { region: 'us-east-1' }],
])('options %j in %j give %j', async (options, env, expected) => {
  expect(await settingsOf(options, withEnv(env))).toMatchObject(expected);
});
