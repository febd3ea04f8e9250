import { csvLine } from '../../../src/dashboard/audit-log/csv.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { parseCsv } from '../../support/data/csv.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();

const FORMULAS = ['=HYPERLINK("http://evil.example","Click")', "+1+cmd|' /C calc'!A0", '-2+3', '@SUM(1)', 'x;=4'];

test.each([...FORMULAS, '\t=1', '\r=1', '\n=1', '＝1', ' =1', '\u00a0=1', '\u200b=1', '\0=1', '\x9f=1'])(
  'the cell %j is not run as a formula',
  (text) => {
    // The attack: a name that runs as a formula in the spreadsheet of the person who opens the export.
    const [cell = ''] = parseCsv(csvLine([text]))[0] ?? [];
    expect(cell).not.toMatch(/^[\s\p{C}\uFFFD]*[=+\-@＝＋－＠]/u);
  },
);

test.each([';', '\t', '\n'])(
  'a cell that contains %j is not run as a formula where that character separates cells',
  (mark) => {
    // The attack: where the comma is the decimal mark, spreadsheets split at semicolons.
    const line = csvLine(['2026-11-20', `name${mark}=1+1`, 'x']);
    for (const cell of line.split(mark).map((each) => each.replace(/^"/, ''))) expect(cell).not.toMatch(/^\s*[=+\-@]/);
  },
);

// The attack: a program takes Ctrl+Z in the name of a browser for the end of the file, and shows no later event.
test('the export contains no control characters except tabs and line breaks', () => {
  expect(csvLine(['a\x1Ab\0\x85', 'c\td'])).toBe('a\uFFFDb\uFFFD\uFFFD,"c\td"\r\n');
});

test('the audit log export contains the names of keys and people as plain text', async () => {
  // The attack: a member names a key; an administrator exports the log.
  const people = await createPeople(dashboard.db);
  const browser = await browserOf(dashboard, people.administrator, { 'User-Agent': '=1+1' });
  for (const name of FORMULAS) await giveKey(dashboard.db, people.member, { name });
  await dashboard.db.prisma.user.updateMany({ where: { id: people.member.userId }, data: { name: '=1,"\r\n=2' } });
  await browser.submit('/organization', { max_key_life_days: '77' });
  const file = await browser.get('/organization/audit-log.csv');
  expect([file.status, file.headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
  expect(file.headers['content-disposition']).toMatch(
    /^attachment; filename="charter-audit-log-\d{4}-\d\d-\d\d\.csv"$/,
  );
  // Without a byte order mark, some spreadsheets read UTF-8 as windows-1252.
  expect(file.text).toMatch(/^\uFEFFtime,action,/);
  const cells = file.text.match(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,\r\n]*))/gm) ?? [];
  for (const cell of cells) expect(cell).not.toMatch(/^,?"?\s*[=+\-@]/);
  expect(file.text).toContain('HYPERLINK');
});
