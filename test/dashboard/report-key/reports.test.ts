import { formatKey, keysInText, mintKey } from '../../../src/domain/keys/api-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { Browser, expectToSay, wordsOf } from '../../support/dashboard/dashboard.ts';
import { browserOf, rowsOf, startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createScanner, messageAbout, reportAsProgram, reportOnPage } from '../../support/dashboard/reports.ts';
import { createPeople, giveKey, listAuditEventsOf, times } from '../../support/data/actors.ts';
import { expectLinearTime } from '../../support/linear-time.ts';
import { recordStatements } from '../../support/postgres/statements.ts';

const dashboard = await useDashboard();
const { db, url } = dashboard;

let address = 0;

/** Returns a local address from which no other test sends reports. */
function newAddress(): string {
  address += 1;
  return `127.0.9.${address}`;
}

const report = (keys: unknown) => reportAsProgram(url, { keys }, { localAddress: newAddress() });
const reportText = (text: string) => reportOnPage(url, text, newAddress());

/** Returns the whole response except for the date, the request id and the form token. */
function essenceOf({ status, headers, text }: Awaited<ReturnType<typeof reportText>>) {
  const { date: _, 'x-request-id': __, ...others } = headers;
  return { status, headers: others, text: text.replaceAll(/name="form_token" value="[^"]+"/g, '') };
}

test.each(['page', 'program'])(
  'a key that is reported by a %s is revoked at once, and the API refuses it',
  async (by) => {
    const { member, administrator } = await createPeople(db);
    const [leaked, other] = [await giveKey(db, member), await giveKey(db, member)];
    expect(await dashboard.statusOf(leaked.key)).toBe(200);
    const response = await (by === 'page' ? reportText(leaked.key) : report([leaked.key]));
    expect(response.status).toBe(200);
    expect(await dashboard.statusOf(leaked.key)).toBe(401);
    expect(await dashboard.statusOf(other.key)).toBe(200);
    expect((await listAuditEventsOf(db, administrator)).slice(-1)).toMatchObject([
      {
        action: 'key.revoked',
        actorUserId: null,
        targetUserId: member.userId,
        keyId: leaked.id,
        detail: { name: leaked.name, prefix: leaked.key.slice(0, 17), why: 'reported as leaked' },
        ip: `127.0.9.${address}`,
        requestId: response.headers['x-request-id'],
      },
    ]);
  },
);

test('the pages for guests link to the report, but not the report to itself', async () => {
  const LINK = 'href="/report-key">';
  const browser = new Browser(url);
  expect((await browser.get('/sign-in')).text).toContain(LINK);
  expect((await browser.get('/report-key')).text).not.toContain(LINK);
});

test('the answer is the same for a key that is active, has ended, is of another environment or does not exist', async () => {
  // The attack: finding out which keys exist, or which of them still work.
  const { member } = await createPeople(db);
  const [active, revoked, rotated] = [await giveKey(db, member), await giveKey(db, member), await giveKey(db, member)];
  orThrow(await revokeKey(db, member, { keyId: revoked.id, userId: member.userId }));
  orThrow(await rotateKey(db, member, { keyId: rotated.id, userId: member.userId, environment: 'live' }));
  const keys = [active.key, revoked.key, rotated.key, mintKey('live').key, mintKey('test').key];
  for (const send of [reportText, (key: string) => report([key])]) {
    const [first, ...others] = await Promise.all(keys.map(send));
    if (first === undefined) throw new Error('No key was reported.');
    for (const other of others) expect(essenceOf(other)).toEqual(essenceOf(first));
  }
});

test('a report takes the same statements, whether or not the key exists', async () => {
  const { member } = await createPeople(db);
  const { key } = await giveKey(db, member);
  const statements = async (reported: string) => {
    const sent = await recordStatements(db, () => report([reported]));
    return sent.map(({ text }) => text);
  };
  const unknown = await statements(mintKey('live').key);
  expect(unknown.some((text) => text.includes('update api_keys'))).toBe(true);
  expect(await statements(key)).toEqual(unknown);
  expect(await dashboard.statusOf(key)).toBe(401);
});

test('a second report changes nothing, and neither does one of a key that was rotated or revoked before', async () => {
  const { member } = await createPeople(db);
  const keys = [await giveKey(db, member), await giveKey(db, member), await giveKey(db, member)];
  const [leaked, revoked, rotated] = keys;
  if (leaked === undefined || revoked === undefined || rotated === undefined) throw new Error('No keys.');
  orThrow(await revokeKey(db, member, { keyId: revoked.id, userId: member.userId }));
  const successor = orThrow(
    await rotateKey(db, member, { keyId: rotated.id, userId: member.userId, environment: 'live' }),
  );
  await report([leaked.key]);
  const before = await rowsOf(db);
  await report(keys.map(({ key }) => key));
  expect(await rowsOf(db)).toEqual(before);
  expect(await dashboard.statusOf(successor.key)).toBe(200);
});

test('of ten reports at once, one revokes the key', async () => {
  const { member, administrator } = await createPeople(db);
  const { key } = await giveKey(db, member);
  const replies = await times(10, () => report([key]));
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
  const revocations = (await listAuditEventsOf(db, administrator)).filter(({ action }) => action === 'key.revoked');
  expect(revocations).toHaveLength(1);
});

test('every key in a pasted text is revoked, wherever it stands, and the text is not stored', async () => {
  const [ours, theirs] = [await createPeople(db), await createPeople(db)];
  const keys = [await giveKey(db, ours.member), await giveKey(db, ours.manager), await giveKey(db, theirs.member)];
  const [a, b, c] = keys.map(({ key }) => key);
  const text = `GET /?key=${a}&x=1 200\n"Authorization: Bearer ${b}"\ncharter_live_charter_live_${c}xyz\ncanary-7f3a`;
  const answer = await reportText(text);
  expect(wordsOf(answer)).toContain('You reported 3 API keys.');
  for (const { key } of keys) expect(await dashboard.statusOf(key)).toBe(401);
  const { rows } = await db.pool.query(
    `select query_to_xml(format('select * from %I', table_name), true, false, '')::text as rows
     from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  const everything = [...rows.map((row: { rows: string }) => row.rows), ...dashboard.logged].join('\n');
  expect(everything).toContain(keys[0]?.id);
  for (const secret of [...keys.map(({ key }) => key.slice(20)), 'canary-7f3a']) {
    expect(everything).not.toContain(secret);
    expect(answer.text).not.toContain(secret);
  }
});

test('a mistyped or incomplete key is refused without a look-up', async () => {
  const { key } = mintKey('live');
  const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
  for (const text of [mistyped, key.slice(0, -1), '', 'hello', `charter_dev_${key.slice(13)}`]) {
    const sent = await recordStatements(db, async () => {
      const page = await reportText(text);
      expectToSay(page, 422, 'must contain a whole API key');
      expect(page.text).not.toContain(key.slice(20, 50));
      expect(await report([text])).toMatchObject({
        status: 422,
        json: { message: 'keys must contain at least one whole API key.' },
      });
    });
    expect(sent).toEqual([]);
  }
});

test('of more than 100 keys in a text, the first 100 are revoked, and the page says so', async () => {
  const { member } = await createPeople(db);
  const [first, last] = [await giveKey(db, member), await giveKey(db, member)];
  const others = Array.from({ length: 99 }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  const page = await reportText([first.key, ...others, last.key, first.key].join(' '));
  expect(wordsOf(page)).toContain('Your text contains 1 more key. Only the first 100 were reported.');
  expect(await dashboard.statusOf(first.key)).toBe(401);
  expect(await dashboard.statusOf(last.key)).toBe(200);
});

test.each([
  ['no JSON', '{"keys":', 400],
  ['nothing', '', 400],
  ['another field', { key: mintKey('live').key }, 422],
  ['a key without a list', { keys: mintKey('live').key }, 422],
  ['an empty list', { keys: [] }, 422],
  ['numbers', { keys: [1] }, 422],
  ['null', null, 422],
  ['more than 100 keys', { keys: Array.from({ length: 101 }, () => mintKey('live').key) }, 422],
  ['more than 100 keys in a few texts', { keys: [Array.from({ length: 101 }, () => mintKey('live').key).join()] }, 422],
  ['more than 256 KiB', { keys: ['a'.repeat(256 * 1024)] }, 413],
])('a program that sends %s gets the reason as JSON', async (_, body, status) => {
  const reply = await reportAsProgram(url, body, { localAddress: newAddress() });
  expect(reply).toMatchObject({ status, json: { message: expect.any(String) } });
  expect(reply.text).not.toMatch(/charter_live_\w{20}/);
  expect(reply.headers['cache-control']).toBe('no-store');
});

test('a compressed body gets 415, and a form of more than 256 KiB gets 413', async () => {
  // The attack: a decompression bomb, and a body that fills the memory.
  const { key } = mintKey('live');
  expect(await reportAsProgram(url, { keys: [key] }, { headers: { 'Content-Encoding': 'gzip' } })).toMatchObject({
    status: 415,
    json: { message: 'A compressed body is not accepted here.' },
  });
  const page = await reportText('a'.repeat(256 * 1024));
  expectToSay(page, 413, 'larger than 256 KiB');
});

test('an address is limited to 60 reports in 15 minutes, over all processes, and others are not', async () => {
  await using second = await startDashboard({ databaseUrl: dashboard.databaseUrl });
  const localAddress = newAddress();
  const key = mintKey('live').key;
  const send = (at: string) => reportAsProgram(at, { keys: [key] }, { localAddress });
  const replies = await times(70, () => send(Math.random() < 0.5 ? url : second.url));
  expect(replies.filter(({ status }) => status === 200)).toHaveLength(60);
  const refused = replies.filter(({ status }) => status === 429);
  expect(refused).toHaveLength(10);
  for (const { headers } of refused) expect(Number(headers['retry-after'])).toBeGreaterThan(0);
  const page = await reportOnPage(url, key, localAddress);
  expect([page.status, Number(page.headers['retry-after'])]).toEqual([429, expect.any(Number)]);
  expect((await report([key])).status).toBe(200);
});

test('the pages of the key and the audit log say that it was reported as leaked', async () => {
  const { member, administrator } = await createPeople(db);
  const { id, key } = await giveKey(db, member, { name: 'Nightly import' });
  await report([key]);
  const [own, governing] = [await browserOf(dashboard, member), await browserOf(dashboard, administrator)];
  const told = 'was revoked because it was reported as leaked';
  expect(wordsOf(await own.get(`/profile/api-keys/${id}`))).toContain(`This key ${told}, `);
  expect(wordsOf(await own.get('/profile/api-keys?state=ended'))).toContain('Revoked reported as leaked');
  const page = `/people/users/${member.userId}/api-keys/${id}`;
  expect(wordsOf(await governing.get(page))).toContain(`This key ${told}, `);
  expect(wordsOf(await governing.get('/organization/audit-log'))).toContain(
    'API key revoked Because it was reported as leaked Somebody who found it',
  );
  const late = await own.post(`/profile/api-keys/${id}/revoke`, { form_token: await own.formToken() });
  expectToSay(late, 409, told);
});

test('the time that a text takes is in proportion to its length', async () => {
  // The attack: a text for which the search for keys backtracks very often.
  for (const part of ['charter_live_', 'charter_', `charter_live_${'a'.repeat(45)}`, mintKey('live').key])
    await expectLinearTime((size) => keysInText(part.repeat(size)), 2000);
});

const [scanner, former, stranger] = [createScanner(), createScanner('former'), createScanner()];
const scanning = await useDashboard({ scannerKeys: new Map([...scanner.keys, ...former.keys]) });

test('a message that the scanner has signed revokes its keys, by each of the public keys', async () => {
  const { member, administrator } = await createPeople(scanning.db);
  for (const { sign } of [scanner, former]) {
    const { id, key } = await giveKey(scanning.db, member);
    const body = messageAbout(['NMIfyYncKcRALEXAMPLE', key]);
    const reply = await reportAsProgram(scanning.url, body, { headers: sign(body) });
    expect(reply).toMatchObject({ status: 200, json: [] });
    expect(await scanning.statusOf(key)).toBe(401);
    expect((await listAuditEventsOf(scanning.db, administrator)).at(-1)).toMatchObject({
      action: 'key.revoked',
      keyId: id,
      detail: { why: 'reported as leaked' },
    });
  }
});

test('the answer names no token, so it does not tell which keys exist', async () => {
  const { member } = await createPeople(scanning.db);
  for (const token of [(await giveKey(scanning.db, member)).key, formatKey('live', '0'.repeat(40)), 'no key']) {
    const body = messageAbout([token]);
    const { status, text } = await reportAsProgram(scanning.url, body, { headers: scanner.sign(body) });
    expect([status, text]).toEqual([200, '[]']);
  }
});

test('a message without a valid signature gets 403 and revokes nothing', async () => {
  const { member } = await createPeople(scanning.db);
  const { key } = await giveKey(scanning.db, member);
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
    const reply = await reportAsProgram(scanning.url, sent, { headers });
    expect([name, reply.status]).toEqual([name, 403]);
  }
  expect(await scanning.statusOf(key)).toBe(200);
});

test('a server without the public key accepts no message of a scanner', async () => {
  const { key } = await giveKey(dashboard.db, (await createPeople(dashboard.db)).member);
  const body = messageAbout([key]);
  expect(await reportAsProgram(dashboard.url, body, { headers: scanner.sign(body) })).toMatchObject({
    status: 403,
    json: { message: expect.stringContaining('must be signed') },
  });
  expect(await dashboard.statusOf(key)).toBe(200);
});

test('a signed message is not limited by its address, and may contain more than 100 keys', async () => {
  const { member } = await createPeople(scanning.db);
  const last = await giveKey(scanning.db, member);
  const many = Array.from({ length: 1000 }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  const body = messageAbout([...many, last.key]);
  expect((await reportAsProgram(scanning.url, body, { headers: scanner.sign(body) })).status).toBe(200);
  expect(await scanning.statusOf(last.key)).toBe(401);
  const short = messageAbout([last.key]);
  for (let i = 0; i < 70; i += 1) {
    expect((await reportAsProgram(scanning.url, short, { headers: scanner.sign(short) })).status).toBe(200);
  }
});

test('texts without a token, and anything else in the list, are ignored', async () => {
  const body = JSON.stringify([null, 1, 'x', [], {}, { token: 5 }, { token: null }]);
  expect(await reportAsProgram(scanning.url, body, { headers: scanner.sign(body) })).toMatchObject({
    status: 200,
    json: [],
  });
});
