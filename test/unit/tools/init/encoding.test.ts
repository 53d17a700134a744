// The encoding of files that are not UTF-8: found by their words, asked, or refused.

import { readFileSync } from 'node:fs';
import { PassThrough } from 'node:stream';
import iconv from 'iconv-lite';
import { describe, expect, it } from 'vitest';
import { main } from '../../../../src/cli/main.ts';
import { readForInit } from '../../../../src/tools/init/write-init.ts';
import { lossText } from '../../../../src/tools/loss.ts';
import { useFiles } from '../../../helpers/files.ts';
import { fakeIo } from '../../cli/fake-io.ts';

const files = useFiles();

const western = ['Zürich', 'Málaga', 'Århus', 'São Paulo', 'Besançon'];
const russian = ['Москва', 'Санкт-Петербург', 'Новосибирск', 'Казань'];
const greek = ['Αθήνα', 'Θεσσαλονίκη', 'Πάτρα', 'Ηράκλειο'];
const japanese = ['東京都', '大阪府', '北海道', 'さいたま市', '神奈川県横浜市'];

/** Pads to a second block, because blocks are cut inside of characters. */
const padding = Array.from({ length: 20_000 }, (_, at) => `${at},filler`).join('\n');

const cases: readonly (readonly [encoding: string, texts: readonly string[]])[] = [
  ['windows-1252', western],
  ['windows-1252', ['25 °C', '31 °C']],
  ['windows-1252', ['£5.00', '£7.50']],
  ['windows-1252', ['it’s', '“quoted”', 'a – b']],
  ['windows-1252', ['Zoë']],
  ['macintosh', western],
  ['windows-1250', ['Plzeň', 'České Budějovice', 'Děčín', 'Ústí nad Labem', 'Jihlava – střed', 'Žďár']],
  ['windows-1250', ['Województwo', 'małopolskie', 'łódzkie', 'śląskie', 'świętokrzyskie']],
  ['windows-1250', ['Województwo', 'Łódzkie', 'Śląskie']],
  ['iso-8859-2', ['Łódź', 'Kraków', 'Gdańsk', 'Świętochłowice', 'Ząbkowice']],
  ['windows-1251', russian],
  ['koi8-r', russian],
  ['iso-8859-5', russian],
  ['ibm866', russian],
  ['x-mac-cyrillic', russian],
  ['windows-1253', [...greek, 'Άγιος – Ύδρα']],
  ['windows-1254', ['İstanbul', 'Eskişehir', 'Muğla', 'Şanlıurfa', 'Ağrı']],
  ['windows-1255', ['תל אביב', 'ירושלים', 'חיפה', 'באר שבע']],
  ['windows-1256', ['القاهرة', 'الرياض', 'دمشق', 'بيروت']],
  ['windows-1257', ['Šiauliai', 'Panevėžys', 'Klaipėda', 'Mažeikiai', 'Kėdainiai']],
  ['windows-1257', ['Rīga', 'Jūrmala', 'Liepāja', 'Jēkabpils', 'Rēzekne']],
  ['windows-874', ['กรุงเทพมหานคร', 'เชียงใหม่', 'ภูเก็ต']],
  ['shift_jis', japanese],
  ['euc-jp', japanese],
  ['gb18030', ['北京市', '上海市', '重庆市', '成都市武侯区', '广州市']],
  ['big5', ['臺北市', '高雄市', '新竹縣', '桃園市中壢區']],
  ['euc-kr', ['서울특별시', '부산광역시', '대구', '제주특별자치도']],
];

const encoded = (texts: readonly string[], encoding: string): Buffer =>
  iconv.encode(
    `id,name\n${padding}\n${texts.map((text, at) => `${at},${text}`).join('\n')}\n`,
    encoding === 'x-mac-cyrillic' ? 'maccyrillic' : encoding,
  );

const read = (content: Buffer) =>
  readForInit({ locations: [files.write('a.csv', content)], workingDirectory: files.directory });

it.each(cases)('%s is found by %j, and shown with samples', async (encoding, texts) => {
  const { tables } = await read(encoded(texts, encoding));
  expect(tables[0]!.encoding).toBe(encoding);
  const [loss] = tables[0]!.losses.map((one) => lossText(one));
  expect(loss).toContain(`not UTF-8, read as ${encoding}: `);
  for (const text of texts.slice(0, 3)) expect(loss).toContain(JSON.stringify(text));
  expect(loss).toContain('`--encoding`');
});

it('a byte of another encoding in a file of UTF-8 is a fault of its record', async () => {
  const lines = western
    .map((name, at) => `${at},${name}\n`)
    .join('')
    .repeat(4);
  const { tables } = await read(Buffer.concat([Buffer.from(`id,name\n${lines}7,Zo`), Buffer.of(0xeb, 10)]));
  expect(tables[0]).toMatchObject({ encoding: undefined, records: 20 });
  expect(tables[0]!.losses.map((one) => lossText(one))).toEqual([
    expect.stringMatching(/^1 record will be rejected, the first in line 22 of .*UTF-8/),
  ]);
});

it.each([
  ['utf-16le', '名前,年齢\n太郎,1\n花子,2\n'],
  ['utf-16be', '名前,年齢\n太郎,1\n花子,2\n'],
])('%s without a mark is found where most characters have no NUL', async (encoding, text) => {
  const { tables } = await read(iconv.encode(text, encoding, { addBOM: false }));
  expect(tables[0]).toMatchObject({ encoding, header: ['名前', '年齢'], losses: [] });
});

describe('an encoding that is not certain', () => {
  /** As windows-1250 these are Czech words, as windows-1252 they might be French or Danish. */
  const doubtful = encoded(['Brèák', 'Øíp'], 'windows-1252');

  it('is an error with the candidates and what they make of the file', async () => {
    const io = fakeIo({ workingDirectory: files.directory });
    files.write('doubt.csv', doubtful);
    expect(await main(['init', 'doubt.csv', '--yes'], io)).toBe(2);
    expect(io.stderr.text).toContain('ETL_SOURCE_ENCODING');
    expect(io.stderr.text).toContain('windows-1250: "Brčák", "Říp"');
    expect(io.stderr.text).toContain('windows-1252: "Brèák", "Øíp"');
    expect(io.stderr.text).toContain('--encoding');
  });

  it('is asked on a terminal, and the answer holds for other files', async () => {
    const stdin = Object.assign(new PassThrough(), { isTTY: true });
    const stdout = { isTTY: true };
    const io = fakeIo({ stdin, stdout, env: { NO_COLOR: '1' }, workingDirectory: files.directory });
    files.write('two/a.csv', doubtful);
    files.write('two/b.csv', doubtful);
    stdin.end('1\n\n');
    expect([await main(['init', 'two/*.csv'], io), io.stderr.text]).toEqual([0, '']);
    expect(io.stdout.text.match(/Which texts are right/g)).toHaveLength(1);
    expect(io.stdout.text).not.toMatch(/^!/m);
    const text = readFileSync(`${files.directory}/pipelines/a.ts`, 'utf8');
    expect(text).toContain("encoding: 'windows-1250'");
  });

  it('is what --encoding says, by any of its names', async () => {
    const io = fakeIo({ workingDirectory: files.directory });
    files.write('said.csv', doubtful);
    expect(await main(['init', 'said.csv', '--out', '-', '--encoding', 'CP1250'], io)).toBe(0);
    expect(io.stdout.text).toContain("encoding: 'windows-1250'");
    expect(io.stderr.text).not.toMatch(/^!/m);
    expect(await main(['init', 'said.csv', '--encoding', 'klingon'], io)).toBe(2);
    expect(io.stderr.text).toContain("'klingon' is not an encoding");
  });
});

it('bytes of no encoding are an error without candidates', async () => {
  const bytes = Buffer.from(Array.from({ length: 128 }, (_, at) => 128 + ((at * 37) % 128)));
  const content = Buffer.concat([Buffer.from('id,name\n1,'), bytes, Buffer.from('\n')]);
  await expect(read(content)).rejects.toMatchObject({ code: 'ETL_SOURCE_ENCODING' });
});
