// Reads files of HTTP servers. Imported only for URLs.

import { fingerprintSampleBytes, readBytes } from '../../../core/limits.ts';
import type { Access, KnownFile, Look, NamedFile, Source } from '../contract.ts';
import { statusError, refuseContent } from './answer.ts';
import { httpSettings } from './options.ts';
import { headOf, requestHttp } from './request.ts';
import { urlOf } from './url.ts';
import {
  checkVersion,
  contentRangeOf,
  ifRangeOf,
  isStrong,
  totalOf,
  versionOf,
  type HttpVersion,
} from './version.ts';
import { Passing, readInBlocks, sampleOf, withTries, type RangeAnswer } from '../resume.ts';

/** Asks for files as they are stored (`identity`), so that byte offsets are right. */
const asStored = { 'accept-encoding': 'identity', accept: '*/*', 'user-agent': 'sluice' };

const lookOnce = async (
  file: NamedFile,
  access: Access,
  settings: ReturnType<typeof httpSettings>,
): Promise<Look> => {
  const url = urlOf(file.location, access.declared.locations);
  const headers = { ...asStored, range: `bytes=0-${fingerprintSampleBytes - 1}` };
  const answer = await requestHttp({ ...settings, url, headers });
  const { status } = answer;
  // A server answers 416 to a range of an empty file.
  const isEmpty = status === 416 && contentRangeOf(answer.headers).total === 0;
  try {
    if (status !== 200 && status !== 206 && !isEmpty) throw statusError(file, answer);
    const head = isEmpty ? Buffer.alloc(0) : await headOf(answer);
    refuseContent(file, answer, head);
    const version = versionOf(status, answer.headers);
    const isKnown = isStrong(version.etag) || version.modified !== undefined;
    const fingerprint = JSON.stringify({ ...version, ...(!isKnown && { sample: sampleOf(head) }) });
    return { bytes: version.bytes ?? 0, fingerprint, head };
  } finally {
    answer.close();
  }
};

export const look: Source['look'] = (file, access) => {
  const settings = httpSettings(file, access);
  return withTries(file, settings.patience.look, access.signal, () => lookOnce(file, access, settings));
};

const askFrom = async (
  file: KnownFile,
  access: Access,
  settings: ReturnType<typeof httpSettings>,
  version: HttpVersion,
  from: number,
): Promise<RangeAnswer> => {
  const url = urlOf(file.location, access.declared.locations);
  const ifRange = ifRangeOf(version);
  const range = from === 0 ? {} : { range: `bytes=${from}-`, ...(ifRange && { 'if-range': ifRange }) };
  const answer = await requestHttp({
    ...settings,
    url,
    headers: { ...asStored, ...range },
    reusesMemory: true,
  });
  try {
    const { status, headers, body } = answer;
    if (status !== 200 && status !== 206) throw statusError(file, answer);
    checkVersion(file, version, status, headers);
    const first = status === 206 ? contentRangeOf(headers).from : 0;
    if (first === undefined || first > from)
      throw new Passing(`the server answers with other bytes than those from ${from} on`);
    return { from: first, total: totalOf(status, headers) ?? version.bytes, body };
  } catch (error) {
    answer.close();
    throw error;
  }
};

export const open: Source['open'] = (file, access, start, end, blockBytes = readBytes) => {
  const version = JSON.parse(file.fingerprint) as HttpVersion;
  const settings = httpSettings(file, access);
  const read = {
    file,
    start,
    end: Math.min(end, version.bytes ?? Infinity),
    ask: (from: number, signal: AbortSignal) => askFrom(file, access, { ...settings, signal }, version, from),
    patience: settings.patience.read,
    signal: access.signal,
    sample: version.sample,
  };
  return readInBlocks(read, blockBytes);
};
