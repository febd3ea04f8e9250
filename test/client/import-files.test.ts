// Files as other programs write them. The functions of `charter-import` read the files and write reports about them.
import { readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { type CsvFormat, csvLine, openCsv } from '../../src/client/import/csv.ts';
import { decoderOf, type Encoder, encoderOf } from '../../src/client/import/encodings.ts';
import type { Upsert } from '../../src/client/import/options.ts';
import { RefusedRows } from '../../src/client/import/refused-rows.ts';
import { columnsOf, SourceRows } from '../../src/client/import/source-rows.ts';
import { useFolder } from '../support/folder.ts';

const folder = await useFolder();

let files = 0;

async function fileWith(content: string | Buffer): Promise<string> {
  files += 1;
  const path = join(folder, `${files}.csv`);
  await writeFile(path, content);
  return path;
}

type Given = { readonly delimiter?: string; readonly encoding?: string };

async function rowsIn(content: string | Buffer, { delimiter, encoding = 'utf-8' }: Given = {}) {
  const { format, rows } = await openCsv(await fileWith(content), { delimiter, encoding });
  const found: (string | number)[][] = [];
  for await (const { number, cells } of rows) found.push([number, ...cells]);
  return { format, rows: found };
}

const ENCODINGS = {
  'utf-8': 'aé€😀\u200B',
  'utf-16le': 'aé€😀ÿþ',
  'utf-16be': 'aé€😀ÿþ',
  'windows-1252': 'aé€’ñ',
  'iso-8859-15': 'aé€ñ',
  'windows-1251': 'aЖяЁ',
  'koi8-r': 'aЖя─',
  macintosh: 'aé€ñ',
  shift_jis: 'aア表能ｱ\\~',
  'euc-jp': 'aア表能',
  'iso-2022-jp': 'aア表能',
  gbk: 'a中文镕',
  gb18030: 'a中文é😀€',
  big5: 'a中文許功蓋',
  'euc-kr': 'a한글',
};

/** All forms in which a program can write a table to a file. */
const rendering = fc.constantFrom(...Object.entries(ENCODINGS)).chain(([encoding, letters]) =>
  fc.record({
    format: fc.record({
      encoding: fc.constant(encoding),
      delimiter: fc.constantFrom(',', ';', '\t', '|', ' ', '^', '-'),
      lineEnd: fc.constantFrom('\n', '\r\n', '\r'),
      hasByteOrderMark: fc.boolean().map((has) => has && encoding.startsWith('utf')),
      hasSeparatorLine: fc.boolean(),
      quotesAll: fc.boolean(),
    }),
    table: fc.array(
      fc.tuple(
        fc.nat().map((number) => `sis${number}`),
        fc.string({ unit: fc.constantFrom(...letters, ...' ,;\t|"\r\n='), minLength: 1, maxLength: 8 }),
        fc.string({ unit: fc.constantFrom(...letters, ...',;"') }),
      ),
      { minLength: 1, maxLength: 5 },
    ),
    blankLines: fc.nat({ max: 2 }),
    endsWithLineEnd: fc.boolean(),
  }),
);

/** The encoders by name, cached because creating one is slow. */
const known = new Map<string, Encoder>();
function encoders(encoding: string): Encoder {
  const found = known.get(encoding) ?? encoderOf(encoding);
  known.set(encoding, found);
  return found;
}

const HEADER = ['external_id', 'name', 'description'];

type Rendered = { format: CsvFormat; table: string[][]; blankLines: number; endsWithLineEnd: boolean };

function rendered({ format, table, blankLines, endsWithLineEnd }: Rendered, header = HEADER): Buffer {
  const { lineEnd, delimiter } = format;
  const blank = `${lineEnd.repeat(blankLines)}${delimiter}""${lineEnd}`;
  const text = [header, ...table].map((cells) => csvLine(cells, format)).join(blank);
  const start = `${format.hasByteOrderMark ? '\uFEFF' : ''}${format.hasSeparatorLine ? `sep=${delimiter}${lineEnd}` : ''}`;
  return encoders(format.encoding)(start + (endsWithLineEnd ? text : text.slice(0, -lineEnd.length)));
}

test('the same table has the same rows with every delimiter, encoding, line end and kind of quotation', async () => {
  const property = fc.asyncProperty(rendering, async (given) => {
    const { format, rows } = await rowsIn(rendered(given), given.format);
    const gap = given.blankLines + 2;
    expect({ format, rows }).toEqual({
      format: given.format,
      rows: [HEADER, ...given.table].map((cells, i) => [i * gap + 1, ...cells]),
    });
  });
  await fc.assert(property, { numRuns: 120 });
});

test.each(['windows-1252', 'shift_jis', 'iso-2022-jp', 'gb18030', 'big5', 'euc-jp'])(
  'each character that %s has is written as it is read',
  (encoding) => {
    const encode = encoders(encoding);
    const has = (character: string) => character === 'U' || !encode(character).toString('latin1').startsWith('U+');
    const characters = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code));
    const all = characters.filter((character) => character.isWellFormed() && has(character)).join('');
    const decoder = decoderOf(encoding);
    expect(decoder.decode(encode(all)) + decoder.decode()).toBe(all);
    expect(all.length).toBeGreaterThan(250);
  },
);

/** Imports the file. The server refuses rows whose name begins with "!". */
async function imported(path: string, { report = `${path}.report`, ...given }: Given & { report?: string } = {}) {
  const notes: string[] = [];
  const { format, rows } = await openCsv(path, { delimiter: given.delimiter, encoding: given.encoding ?? 'utf-8' });
  const { value } = await rows.next();
  const header = value?.cells ?? [];
  const refused = new RefusedRows(report, { format, header, tell: (words) => notes.push(words) });
  await refused.requirePlace();
  const columns = columnsOf(header, new Map());
  const source = new SourceRows(rows, { columns, header, delimiter: format.delimiter, refused });
  const accepted: Upsert[] = [];
  for await (const change of source.changes()) {
    if (!change.body.name.startsWith('!')) accepted.push(change);
    else await refused.add([{ row: source.rowOf(change), status: 422, message: 'name → must not, "begin" with !' }]);
  }
  await refused.close();
  await refused.removeEarlier();
  const programs = accepted.map(({ external_id: id, body }) => [id, body.name, body.description ?? '']);
  return { programs, format, report, notes, blanks: source.blanks };
}

async function reasonsIn(path: string): Promise<string[]> {
  const { rows } = await rowsIn(await readFile(path));
  return rows.slice(1).map((cells) => String(cells.at(-1)));
}

test('a report is written like its file, and what is corrected in it is imported with the same options', async () => {
  const property = fc.asyncProperty(rendering, async ({ table, ...given }) => {
    const wanted = table.map(([id, ...rest], i) => [`${id}-${i}`, ...rest]);
    const wrong = wanted.map(([id = '', name, ...rest]) => [id, `!${name}`, ...rest]);
    const first = await imported(await fileWith(rendered({ ...given, table: wrong })), given.format);
    expect(first.programs).toEqual([]);
    const bytes = await readFile(first.report);
    const { format, rows } = await rowsIn(bytes, given.format);
    expect(format).toEqual(given.format);
    const message = /^name (→|U\+2192) must not, "begin" with !$/;
    expect(rows.slice(1)).toEqual(
      wrong.map((cells, i) => [i + 2, ...cells, expect.stringMatching(/^\d+$/), '422', expect.stringMatching(message)]),
    );
    const [header = [], ...lines] = rows.map(([, ...cells]) => cells.map(String));
    const corrected = lines.map((cells) => cells.with(1, cells[1]?.slice(1) ?? ''));
    const file = rendered({ ...given, table: corrected }, header);
    expect((await imported(await fileWith(file), given.format)).programs).toEqual(wanted);
  });
  await fc.assert(property, { numRuns: 60 });
});

const LONG =
  'The row has 4 cells instead of 3. Put each value into its column and empty this cell. After the last column: ';
const SHORT =
  'The row has 2 cells instead of 3. Put each value into its column. If the last cells are empty: empty this cell.';

test.each([
  ['too few', 'a,First', `a,First,,2,,${SHORT}`],
  ['too many', 'a,Last, First,x', `a,Last, First,2,,${LONG}x`],
  ['an empty one too many', 'a,Last, First,', `a,Last, First,2,,${LONG.trimEnd()}`],
  ['a quoted one too many', 'a,Last, First,"x,\ny"', `a,Last, First,2,,"${LONG}x,\ny"`],
])(
  'a row with %s cells is refused until it is corrected, also after a spreadsheet has filled it up',
  async (_, row, line) => {
    const first = await imported(await fileWith(`${HEADER}\n${row}\n`));
    const added = 'import_row,import_status,import_message';
    expect(await readFile(first.report, 'utf8')).toBe(`${HEADER},${added}\n${line}\n`);
    const message = line.slice(line.indexOf('The row')).replace(/"$/, '');
    for (const filler of ['', ',,', ',"",""', ', ']) {
      const again = await imported(await fileWith(`${HEADER},${added}${filler}\n${line}${filler}\n`));
      expect([again.programs, await reasonsIn(again.report)]).toEqual([[], [message]]);
    }
    for (const corrected of ['a,"Last, First",x,2,,', 'a,"Last, First",x,,,', 'a,"Last, First",x,,,,,'])
      expect((await imported(await fileWith(`${HEADER},${added},,\n${corrected}\n`))).programs).toEqual([
        ['a', 'Last, First', 'x'],
      ]);
  },
);

test('a row with too few cells is imported as soon as what was missing is there', async () => {
  const first = await imported(await fileWith(`${HEADER}\na,First\n`));
  const report = (await readFile(first.report, 'utf8')).replace('a,First,,', 'a,First,Text,');
  expect((await imported(await fileWith(report))).programs).toEqual([['a', 'First', 'Text']]);
});

test('cells behind the last column with a name refuse their row unless they are empty', async () => {
  const content = 'external_id,name,description,,\na,First,,,\nb,Second,x\nc,Last, First,x,\n';
  const { programs, report } = await imported(await fileWith(content));
  expect(programs).toEqual([
    ['a', 'First', ''],
    ['b', 'Second', 'x'],
  ]);
  expect(await reasonsIn(report)).toEqual([expect.stringMatching(/^The row has 5 cells instead of 3\./)]);
});

test('rows with the same ID are one change if they are equal; otherwise, the later one is refused with both numbers', async () => {
  const first = await imported(await fileWith(`${HEADER}\na,First,\nb,x,\na,First,\n\na,Other,\n`));
  expect(first.programs.map(([id, name]) => `${id} ${name}`)).toEqual(['a First', 'b x', 'a First']);
  const report = await readFile(first.report, 'utf8');
  expect(report.split('\n')[1]).toBe(
    'a,Other,,6,,"The external_id ""a"" is also in row 2, with other values. Correct it, or delete the row. To replace the values of row 2, empty this cell."',
  );
  expect((await imported(first.report)).programs).toEqual([]);
  expect((await imported(await fileWith(report.replace('a,Other', 'c,Other')))).programs).toEqual([['c', 'Other', '']]);
  expect((await imported(await fileWith(report.replace(/"The.*"/, '')))).programs).toEqual([['a', 'Other', '']]);
});

test.each([
  ['sep=;\r\nexternal_id;name\r\na;b,c\r\n', ';'],
  ['\uFEFFSEP=;\nexternal_id;name\na;b,c\n', ';'],
  ['"sep=;"\rexternal_id;name\ra;b,c\r', ';'],
  ['sep=\t\nexternal_id\tname\na\tb,c\n', '\t'],
  ['sep=;;;;\nexternal_id;name\na;b,c', ';'],
  ['"sep=;","",""\nexternal_id,name\na,"b,c"\n', ','],
  ['sep=;,,\n\n\nexternal_id,name\na,"b,c"\n', ','],
  ['sep=,\nexternal_id,name\na,"b,c"', ','],
  ['sep=;  \nexternal_id;name\na;b,c', ';'],
])('the first line of %j says what separates the cells', async (content, delimiter) => {
  const { format, rows } = await rowsIn(content);
  expect([format.delimiter, rows.map(([, ...cells]) => cells)]).toEqual([
    delimiter,
    [
      ['external_id', 'name'],
      ['a', 'b,c'],
    ],
  ]);
  await expect(rowsIn(content, { delimiter: '|' })).rejects.toThrow('but --delimiter is "|". Correct one of them.');
});

test.each<[string, (string | number)[][]]>([
  ['a,b', [[1, 'a', 'b']]],
  ['\n\r\n\r', []],
  ['', []],
  ['\uFEFF', []],
  [
    'a,b\nc,d\re,f\r\n\r\n"g\n",h\n\x1A',
    [
      [1, 'a', 'b'],
      [2, 'c', 'd'],
      [3, 'e', 'f'],
      [5, 'g\n', 'h'],
    ],
  ],
  [
    '\uFEFF"a","b"\n"",""\n" ",\nc,"d"',
    [
      [1, 'a', 'b'],
      [4, 'c', 'd'],
    ],
  ],
])('the rows of %j', async (content, rows) => {
  expect((await rowsIn(content)).rows).toEqual(rows);
});

test('IDs that begin or end with a blank are counted', async () => {
  const { blanks } = await imported(await fileWith(`${HEADER}\na,x,\n b,x,\n"c\u00A0",x,\nd\u200B,x,\n`));
  expect(blanks).toEqual({ count: 3, first: 3 });
});

describe('a report of an earlier import', () => {
  const wrong = `${HEADER}\na,!x,\n`;
  const right = `${HEADER}\na,x,\n`;

  test('is replaced, and removed after an import without a refused row', async () => {
    const { report } = await imported(await fileWith(wrong));
    expect(await imported(await fileWith(wrong.replace('!x', '!y')), { report })).toMatchObject({ notes: [] });
    expect(await readFile(report, 'utf8')).toContain('!y');
    expect((await imported(await fileWith(right), { report })).notes).toEqual([
      `Removed the earlier report ${report}.`,
    ]);
    await expect(readFile(report)).rejects.toThrow('ENOENT');
    expect((await imported(await fileWith(right), { report })).notes).toEqual([]);
  });

  test.each([
    ['replaced', wrong],
    ['removed', right],
  ])('is kept under another name instead of being %s if it was edited', async (_, content) => {
    const { report } = await imported(await fileWith(wrong), { encoding: 'utf-8' });
    // Some file systems and archives store modification times in whole seconds.
    for (const [kept, seconds] of [
      [`${report}.edited`, 1.5],
      [`${report}.edited-2`, 2],
    ] as const) {
      const edited = (await readFile(report, 'utf8')).replace('!x', 'corrected');
      await writeFile(report, edited);
      await utimes(report, seconds, seconds);
      expect((await imported(await fileWith(content), { report })).notes).toEqual([
        `The earlier report was edited. It is kept as ${kept}.`,
      ]);
      expect(await readFile(kept, 'utf8')).toBe(edited);
      await writeFile(report, edited);
    }
  });

  // A user's mistake: `--refused` with the name of a file that is not a report.
  test('is the only file that a report replaces', async () => {
    const other = await fileWith(right);
    for (const content of [wrong, right])
      await expect(imported(await fileWith(content), { report: other })).rejects.toThrow(
        `${other} is not a report of refused rows. Move it, or name another file with --refused.`,
      );
    expect(await readFile(other, 'utf8')).toBe(right);
    for (const [report, words] of [
      [folder, 'is a folder.'],
      [join(folder, 'missing', 'report.csv'), 'There is no folder for '],
    ] as const)
      await expect(imported(other, { report })).rejects.toThrow(words);
  });

  test('may be a device or an empty file, which is not removed', async () => {
    for (const report of ['/dev/null', await fileWith('')])
      for (const content of [right, wrong])
        expect(await imported(await fileWith(content), { report })).toMatchObject({ notes: [] });
    expect((await stat('/dev/null')).isFile()).toBe(false);
  });

  test.each(Object.keys(ENCODINGS))('is recognized in %s', async (encoding) => {
    const content = encoders(encoding)(wrong.replaceAll(',', '\t'));
    const { report } = await imported(await fileWith(content), { encoding, delimiter: '\t' });
    expect((await imported(await fileWith(right), { report })).notes).toHaveLength(1);
  });
});

test.each<[title: string, content: string | Buffer, given: Given, message: string]>([
  ['UTF-16', Buffer.from('\uFEFFexternal_id,name\na,b\n', 'utf16le'), {}, 'is encoded as UTF-16. Save it as UTF-8, or'],
  [
    'UTF-8',
    '\uFEFFexternal_id,name\na,b\n',
    { encoding: 'windows-1252' },
    'is encoded as UTF-8, not as windows-1252. Leave out',
  ],
  [
    'a quotation mark in a cell',
    'external_id,name\na,5" disk\n',
    {},
    'written in quotation marks, and each one in it twice',
  ],
  ['half a character', Buffer.from([0x61, 0xc3]), {}, 'is not encoded as utf-8. Use --encoding'],
  ['half a character in UTF-16', Buffer.from([0x61, 0, 0x62]), { encoding: 'utf-16le' }, 'is not encoded as utf-16le'],
  [
    'a row without an end',
    `${HEADER}\na,"${'x'.repeat(1_100_000)}`,
    {},
    'Row 2: it has more than 1 MiB. Is a quotation',
  ],
  [
    'names without an end',
    `"${'x'.repeat(1_100_000)}`,
    {},
    'Row 1: it has more than 1 MiB. Is a quotation mark missing?',
  ],
])('a file with %s is refused with the reason', async (_title, content, given, message) => {
  await expect(rowsIn(content, given)).rejects.toThrow(message);
});

test.each([
  ['Cañón', 'utf-8', 1],
  [`${'x'.repeat(65_000)}${'x\n'.repeat(9000)}Cañón`, 'utf-8', 1],
  ['Cañón', 'windows-1252', 0],
  ['Canon', 'utf-8', 0],
])('a file in UTF-8 that is read as windows-1252 is warned about: %#', async (text, encoding, count) => {
  const path = await fileWith(encoders(encoding)(`external_id,name\na,${text}\n`));
  const warnings: string[] = [];
  const { rows } = await openCsv(path, {
    delimiter: undefined,
    encoding: 'windows-1252',
    warn: (words) => warnings.push(words),
  });
  for await (const _ of rows);
  const words = `${path} is probably encoded as UTF-8, not as windows-1252. If so, leave out --encoding.`;
  expect(warnings).toEqual(Array(count).fill(words));
});

test('windows-1252 has the characters of the Encoding Standard in every version of Node', async () => {
  const { rows } = await rowsIn(Buffer.from('\x80\x82\x92\x96\xE9,\x8D\x9D\n', 'latin1'), { encoding: 'windows-1252' });
  expect(rows).toEqual([[1, '€‚’–é', '\x8D\x9D']]);
});
