import type { ServerResponse } from 'node:http';
import { formatKey } from '../../../src/domain/keys/api-key.ts';
import { MAX_REPORTED_KEYS } from '../../../src/service/keys/report-keys.ts';
import { endMove, setStage, startMove } from '../../../src/store/organizations/organization-moves.ts';
import { transaction } from '../../../src/store/sql/database.ts';
import { wordsOf } from '../../support/dashboard/dashboard.ts';
import { startDashboard, useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { createScanner, messageAbout, reportAsProgram, reportOnPage } from '../../support/dashboard/reports.ts';
import { createPeople, giveKey, listAuditEventsOf } from '../../support/data/actors.ts';
import { COMMON_HOST, COMMON_URL, cellOf } from '../../support/data/cells.ts';
import { inTransaction, untilWaiting } from '../../support/postgres/postgres.ts';
import { startScriptedServer } from '../../support/servers/scripted-server.ts';

const scanner = createScanner();
const scannerKeys = scanner.keys;
const trustedProxies = ['loopback'];
const us1 = await useDashboard({ scannerKeys, trustedProxies });
const own = cellOf('eu1', 'Europe', 'http://eu1.charter.test');
const cells = [own, cellOf('us1', 'United States', us1.url)];
const common = { cell: 'eu1', commonUrl: COMMON_URL, scannerKeys, trustedProxies };
const eu1 = await useDashboard({ ...common, cells });
const headers = { Host: COMMON_HOST };

async function keys() {
  const [ours, theirs] = [(await createPeople(eu1.db)).member, (await createPeople(us1.db)).member];
  return { ours: await giveKey(eu1.db, ours), theirs: await giveKey(us1.db, theirs) };
}

const REPORTS: [string, (texts: readonly string[], to?: Record<string, string>) => Promise<{ status: number }>][] = [
  ['on the page', (texts, to = headers) => reportOnPage(eu1.url, texts.join('\n'), undefined, to)],
  ['by a program', (texts, to = headers) => reportAsProgram(eu1.url, { keys: texts }, { headers: to })],
  [
    'by a secret scanner',
    (texts, to = headers) => {
      const body = messageAbout(texts);
      return reportAsProgram(eu1.url, body, { headers: { ...to, ...scanner.sign(body) } });
    },
  ],
];

test.each(REPORTS)('a report %s at the common address revokes the keys of every cell', async (_, report) => {
  const { ours, theirs } = await keys();
  expect(await report([ours.key, theirs.key])).toMatchObject({ status: 200 });
  expect([await eu1.statusOf(ours.key), await us1.statusOf(theirs.key)]).toEqual([401, 401]);
});

test.each(REPORTS)('a report %s at the address of a cell concerns that cell only', async (_, report) => {
  const { ours, theirs } = await keys();
  expect(await report([ours.key, theirs.key], { Host: 'eu1.charter.test' })).toMatchObject({ status: 200 });
  expect([await eu1.statusOf(ours.key), await us1.statusOf(theirs.key)]).toEqual([401, 200]);
});

test('the other cell limits the client that reported, not the cell that sends the report on', async () => {
  const { theirs } = await keys();
  const from = (ip: string) => ({ headers: { ...headers, 'X-Forwarded-For': ip } });
  for (let i = 0; i < 60; i += 1) await reportAsProgram(eu1.url, { keys: [theirs.key] }, from('203.0.113.1'));
  expect((await reportAsProgram(eu1.url, { keys: [theirs.key] }, from('203.0.113.1'))).status).toBe(429);
  expect((await reportAsProgram(eu1.url, { keys: [theirs.key] }, from('203.0.113.2'))).status).toBe(200);
});

// The old cell keeps the rows of an organization that has moved until the operator deletes them, which can be days later.
test.each(REPORTS)(
  'a report %s of a key whose organization has moved is to be repeated, and the others are revoked',
  async (_, report) => {
    const [{ ours, theirs }, moving] = [await keys(), (await createPeople(eu1.db)).member];
    const { key } = await giveKey(eu1.db, moving);
    const id = crypto.randomUUID();
    await transaction(eu1.db, async (tx) => {
      await startMove(tx, moving.scope, id);
      await setStage(tx, moving.scope, { id, stage: 'completed' });
    });
    const logged = eu1.logged.length;
    expect(await report([key, ours.key, theirs.key])).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
    expect([await eu1.statusOf(ours.key), await us1.statusOf(theirs.key)]).toEqual([401, 401]);
    expect(eu1.logged.slice(logged).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
    await transaction(eu1.db, (tx) => endMove(tx, moving.scope));
    expect(await eu1.statusOf(key)).toBe(200);
    expect(await report([key])).toMatchObject({ status: 200 });
    expect(await eu1.statusOf(key)).toBe(401);
  },
);

// The race: a move begins after the snapshot of the revocation, in which the organization is not moving.
test('a report that waits while a move is completed revokes the keys of the other organizations, and is to be repeated', async () => {
  const [moving, other, late] = [await createPeople(eu1.db), await createPeople(eu1.db), await createPeople(eu1.db)];
  const keyOf = async ({ member }: typeof moving) => (await giveKey(eu1.db, member)).key;
  const [moved, ...ended] = [await keyOf(moving), await keyOf(other), await keyOf(late)];
  const [first = '', last = ''] = ended;
  const fillers = Array.from({ length: MAX_REPORTED_KEYS }, (_, i) => formatKey('live', String(i).padStart(40, '0')));
  const body = messageAbout([moved, first, ...fillers, last]);
  const reply = await inTransaction(eu1.db, async (held) => {
    const { organizationId } = moving.scope;
    await held.query('select from organizations where id = $1 for update', [organizationId]);
    const reporting = reportAsProgram(eu1.url, body, { headers: scanner.sign(body) });
    await untilWaiting(eu1.db.pool, 1);
    await held.query("insert into organization_moves (organization_id, id, stage) values ($1, $2, 'completed')", [
      organizationId,
      crypto.randomUUID(),
    ]);
    await held.query('update organizations set suspended_at = now() where id = $1', [organizationId]);
    await held.query('commit');
    return reporting;
  });
  expect(reply).toMatchObject({ status: 503, headers: { 'retry-after': '5' } });
  for (const key of ended) expect(await eu1.statusOf(key)).toBe(401);
  expect(
    (await listAuditEventsOf(eu1.db, other.administrator)).filter(({ action }) => action === 'key.revoked'),
  ).toHaveLength(1);
  await transaction(eu1.db, (tx) => endMove(tx, moving.scope));
  expect(await eu1.statusOf(moved)).toBe(200);
  expect(await reportAsProgram(eu1.url, body, { headers: scanner.sign(body) })).toMatchObject({ status: 200 });
  expect(await eu1.statusOf(moved)).toBe(401);
});

// The risk: a proxy in front of the other cell replaces Host with the common address. Then the cells would forward the report to
// each other without end.
test('a report that a cell has sent on is not sent on again', async () => {
  await using other = await startScriptedServer();
  other.play((res) => res.writeHead(200).end());
  await using looping = await startDashboard({ ...common, cells: [own, cellOf('us1', 'United States', other.url)] });
  const { key } = await giveKey(looping.db, (await createPeople(looping.db)).member);
  const report = (sent: Record<string, string>) => reportAsProgram(looping.url, { keys: [key] }, { headers: sent });
  expect((await report(headers)).status).toBe(200);
  expect(other.received).toHaveLength(1);
  const again = { 'Charter-Forwarded': String(other.received[0]?.headers['charter-forwarded']) };
  expect((await report({ ...headers, ...again })).status).toBe(200);
  expect(other.received).toHaveLength(1);
});

test.each(['charter.test:80', 'Charter.Test'])('%s is the common address, too', async (host) => {
  const { theirs } = await keys();
  await reportAsProgram(eu1.url, { keys: [theirs.key] }, { headers: { Host: host } });
  expect(await us1.statusOf(theirs.key)).toBe(401);
});

test('if another cell does not answer, refuses or redirects, the report says where to repeat it', async () => {
  await using failing = await startScriptedServer();
  await using lame = await startDashboard({ ...common, cells: [...cells, cellOf('ap1', 'Asia', failing.url)] });
  const location = { Location: `${us1.url}/report-key`, 'Content-Length': 0 };
  for (const fail of [
    (res: ServerResponse) => res.destroy(),
    (res: ServerResponse) => res.writeHead(503, location).end(),
    (res: ServerResponse) => res.writeHead(307, location).end(),
  ]) {
    failing.play((res) => void fail(res));
    const [member, theirs] = [(await createPeople(lame.db)).member, (await createPeople(us1.db)).member];
    const [ours, other] = [await giveKey(lame.db, member), await giveKey(us1.db, theirs)];
    const reply = await reportAsProgram(lame.url, { keys: [ours.key, other.key] }, { headers });
    expect(reply).toMatchObject({
      status: 503,
      headers: { 'retry-after': '60' },
      json: { message: expect.stringContaining(`${failing.url}/report-key`) },
    });
    // The other cells have received the report.
    expect([await lame.statusOf(ours.key), await us1.statusOf(other.key)]).toEqual([401, 401]);
    const body = messageAbout([ours.key]);
    const signed = { headers: { ...headers, ...scanner.sign(body) } };
    expect((await reportAsProgram(lame.url, body, signed)).status).toBe(503);
    const page = await reportOnPage(lame.url, ours.key, undefined, headers);
    expect(wordsOf(page)).toMatch(/did not reach every part of Charter.*Asia/);
    expect(page.text).toContain(`href="${failing.url}/report-key"`);
    expect(page.text).not.toContain(ours.key);
  }
});
