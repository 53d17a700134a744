// Reads files of HTTP servers. Imported only for URLs.

import { fingerprintSampleBytes, readBytes } from '../../../core/limits.ts';
import type { Access, KnownFile, NamedFile, Source } from '../contract.ts';
import { statusError, refuseContent } from './answer.ts';
import { httpSettings } from './options.ts';
import { requestHttp, type HttpAnswer, type HttpRequest } from './request.ts';
import { urlOf } from './url.ts';
import {
  checkVersion,
  contentRangeOf,
  firstByteOf,
  ifRangeOf,
  totalOf,
  versionOf,
  type HttpVersion,
} from './version.ts';
import {
  otherBytes,
  readHead,
  readInBlocks,
  sampleOf,
  type HeadAnswer,
  type RangeAnswer,
} from '../resume.ts';

/** Asks for files as they are stored (`identity`), so that byte offsets are right. */
const asStored = { 'accept-encoding': 'identity', accept: '*/*', 'user-agent': 'sluice' };

type Settings = ReturnType<typeof httpSettings>;

const request = (
  file: NamedFile,
  { declared }: Access,
  settings: Settings & Partial<Pick<HttpRequest, 'reusesMemory'>>,
  range: Readonly<Record<string, string>>,
): Promise<HttpAnswer> => {
  const url = urlOf(file.location, declared.locations);
  return requestHttp({ ...settings, url, headers: { ...asStored, ...range } });
};

interface Seen extends Pick<HttpAnswer, 'headers'> {
  readonly version: HttpVersion;
}

/** Begins at byte 0 if the file may have changed unnoticed since the answer `begun`. */
const lookFrom = async (
  file: NamedFile,
  access: Access,
  settings: Settings,
  next: number,
  begun: Seen | undefined,
): Promise<HeadAnswer<Seen>> => {
  const ifRange = begun && ifRangeOf(begun.version);
  const from = ifRange === undefined ? 0 : next;
  const range = `bytes=${from}-${fingerprintSampleBytes - 1}`;
  const answer = await request(file, access, settings, { range, ...(from > 0 && { 'if-range': ifRange! }) });
  try {
    const { status, headers } = answer;
    // A server answers 416 to a range of an empty file.
    const isEmpty = status === 416 && contentRangeOf(headers).total === 0;
    if (status !== 200 && status !== 206 && !isEmpty) throw statusError(file, answer);
    const first = firstByteOf(answer) ?? 0;
    if (status === 206 && first !== from) throw otherBytes(from);
    if (first > 0) checkVersion(file, begun!.version, status, headers);
    if (isEmpty) answer.close();
    const version = { version: versionOf(status, headers), headers };
    return { from: first, total: totalOf(status, headers), version, body: isEmpty ? [] : answer.body };
  } catch (error) {
    answer.close();
    throw error;
  }
};

export const look: Source['look'] = async (file, access) => {
  const settings = httpSettings(file, access);
  const { version: seen, head } = await readHead<Seen>(
    file,
    settings.patience.look,
    access.signal,
    (from, begun) => lookFrom(file, access, settings, from, begun),
  );
  refuseContent(file, seen, head);
  const { version } = seen;
  const isKnown = ifRangeOf(version) !== undefined;
  const fingerprint = JSON.stringify({ ...version, ...(!isKnown && { sample: sampleOf(head) }) });
  return { bytes: version.bytes ?? 0, fingerprint, head };
};

const askFrom = async (
  file: KnownFile,
  access: Access,
  settings: Settings,
  version: HttpVersion,
  from: number,
): Promise<RangeAnswer> => {
  const ifRange = ifRangeOf(version);
  const range = from === 0 ? {} : { range: `bytes=${from}-`, ...(ifRange && { 'if-range': ifRange }) };
  const answer = await request(file, access, { ...settings, reusesMemory: true }, range);
  try {
    const { status, headers, body } = answer;
    if (status !== 200 && status !== 206) throw statusError(file, answer);
    checkVersion(file, version, status, headers);
    const first = firstByteOf(answer);
    if (first === undefined || first > from) throw otherBytes(from);
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
