import { formatKey } from '../../../src/domain/api-key.ts';
import { auditEventsOf, createPeople, giveKey } from '../../support/data/actors.ts';
import { useDashboard } from '../../support/http/dashboard-server.ts';
import { createScanner, messageAbout, reportAsProgram } from '../../support/http/reports.ts';

const [scanner, former, stranger] = [createScanner(), createScanner('former'), createScanner()];
const dashboard = await useDashboard({ scannerKeys: new Map([...scanner.keys, ...former.keys]) });
const { db, url } = dashboard;
const without = await useDashboard();

test('a message that the scanner has signed revokes its keys, by each of the public keys', async () => {
  const { member, administrator } = await createPeople(db);
  for (const { sign } of [scanner, former]) {
    const { id, key } = await giveKey(db, member);
    const body = messageAbout(['NMIfyYncKcRALEXAMPLE', key]);
    const reply = await reportAsProgram(url, body, { headers: sign(body) });
    expect(reply).toMatchObject({ status: 200, json: [] });
    expect(await dashboard.statusOf(key)).toBe(401);
    expect((await auditEventsOf(db, administrator)).at(-1)).toMatchObject({
      action: 'key.revoked',
      keyId: id,
      detail: { why: 'reported as leaked' },
    });
  }
});

test('the answer names no token, so it does not tell which keys exist', async () => {
  const { member } = await createPeople(db);
  for (const token of [(await giveKey(db, member)).key, formatKey('live', '0'.repeat(40)), 'no key']) {
    const body = messageAbout([token]);
    const { status, text } = await reportAsProgram(url, body, { headers: scanner.sign(body) });
    expect([status, text]).toEqual([200, '[]']);
  }
});

test('a message without a valid signature gets 403 and revokes nothing', async () => {
  const { member } = await createPeople(db);
  const { key } = await giveKey(db, member);
  const body = messageAbout([key]);
  const signed = scanner.sign(body);
  const { 'Github-Public-Key-Signature': signature = '' } = signed;
  const cases: [string, string, Record<string, string>][] = [
    ['no signature', body, {}],
    ['no identifier', body, { 'Github-Public-Key-Signature': signature }],
    ['another body', body.replace('content', 'commit'), signed],
    ['the same body with a line break', `${body}\n`, signed],
    ['the key of somebody else', body, stranger.sign(body)],
    ['an unknown identifier', body, { ...signed, 'Github-Public-Key-Identifier': 'unknown' }],
    ['the identifier of another key', body, { ...signed, 'Github-Public-Key-Identifier': 'former' }],
    ['an empty signature', body, { ...signed, 'Github-Public-Key-Signature': '' }],
    ['no base64', body, { ...signed, 'Github-Public-Key-Signature': '§§' }],
    ['a part of the signature', body, { ...signed, 'Github-Public-Key-Signature': signature.slice(0, 40) }],
    ['a signature of zeros', body, { ...signed, 'Github-Public-Key-Signature': 'MAYCAQACAQA=' }],
  ];
  for (const [name, sent, headers] of cases) {
    const reply = await reportAsProgram(url, sent, { headers });
    expect([name, reply.status]).toEqual([name, 403]);
  }
  expect(await dashboard.statusOf(key)).toBe(200);
});

test('a server without the public key accepts no message of a scanner', async () => {
  const { key } = await giveKey(without.db, (await createPeople(without.db)).member);
  const body = messageAbout([key]);
  expect(await reportAsProgram(without.url, body, { headers: scanner.sign(body) })).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('must be signed') },
  });
  expect(await without.statusOf(key)).toBe(200);
});

test('a signed message is not limited by its address, and may contain more than 100 keys', async () => {
  const { member } = await createPeople(db);
  const last = await giveKey(db, member);
  const many = Array.from({ length: 1000 }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  const body = messageAbout([...many, last.key]);
  expect((await reportAsProgram(url, body, { headers: scanner.sign(body) })).status).toBe(200);
  expect(await dashboard.statusOf(last.key)).toBe(401);
  const short = messageAbout([last.key]);
  for (let i = 0; i < 70; i += 1) {
    expect((await reportAsProgram(url, short, { headers: scanner.sign(short) })).status).toBe(200);
  }
});

test('texts without a token, and anything else in the list, are ignored', async () => {
  const body = JSON.stringify([null, 1, 'x', [], {}, { token: 5 }, { token: null }]);
  expect(await reportAsProgram(url, body, { headers: scanner.sign(body) })).toMatchObject({ status: 200, json: [] });
});
