import { MovingError } from '../../../src/domain/errors.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { writeDueKeyNotices } from '../../../src/store/keys/key-checks.ts';
import { claimNoticeMails } from '../../../src/store/keys/key-notices.ts';
import { CARRIED } from '../../../src/store/organizations/organization-moves.ts';
import type { Client } from '../../support/clients/client.ts';
import { Browser, wordsOf } from '../../support/dashboard/dashboard.ts';
import { reportAsProgram } from '../../support/dashboard/reports.ts';
import { PASSWORD } from '../../support/data/accounts.ts';
import { giveKey } from '../../support/data/actors.ts';
import { LIST, MOVING, SUCCESS, type TeamWithKey, useMoves } from '../../support/processes/moves.ts';

const {
  source,
  target,
  admin,
  teamWithKey,
  movingTeam,
  bothBehindLock,
  startMove,
  cancelMove,
  importOnly,
  complete,
  activate,
  importTo,
  statusInTarget,
} = await useMoves();

test('requests of a moving organization get 503 with Retry-After, and none of them is logged as a fault', async () => {
  const { organizationId, client } = await teamWithKey();
  await client.post(LIST, { name: 'Before' });
  expect(await startMove(organizationId)).toMatchObject(SUCCESS);
  const logged = source.logged.length;
  for (const reply of [
    await client.get(LIST),
    await client.post(LIST, { name: 'Meanwhile' }),
    await client.get('/api/key'),
  ])
    expect(reply).toMatchObject(MOVING);
  expect(source.logged.slice(logged).filter((line) => JSON.parse(line).level >= 50)).toEqual([]);
  expect(await source.db.prisma.parentProgram.count({ where: { organizationId } })).toBe(1);
});

describe('a person of a moving organization', () => {
  test('gets 503 for every page and form, and changes nothing', async () => {
    const { organizationId, administrator } = await teamWithKey();
    const browser = new Browser(source.url);
    await browser.signIn(administrator.email, PASSWORD);
    expect((await browser.get('/people/users')).status).toBe(200);
    const token = await browser.formToken();
    await startMove(organizationId);
    const page = await browser.get('/people/users');
    expect(page).toMatchObject(MOVING);
    expect(wordsOf(page)).toMatch(/Your organization is moving.*Nothing was changed.*ask the operators.*new address/s);
    const fields = { form_token: token, name: 'Late', email: 'late@example.test', role: 'viewer' };
    expect((await browser.post('/people/users/invite', fields)).status).toBe(503);
    expect(await source.db.prisma.user.count({ where: { organizationId } })).toBe(4);
  });

  test('cannot sign in, and is not counted as having failed to', async () => {
    const { organizationId, administrator } = await movingTeam();
    const browser = new Browser(source.url);
    expect(await browser.signIn(administrator.email, PASSWORD)).toMatchObject({ status: 503 });
    expect(await source.db.prisma.session.count({ where: { organizationId } })).toBe(0);
  });
});

test('notices about keys of a moving organization are left to the database to which it moves', async () => {
  const { organizationId } = await teamWithKey();
  // There is a notice to send, because an operator has issued the key.
  await startMove(organizationId);
  const [claimed, checked] = [
    await claimNoticeMails(source.db, { limit: 1000 }),
    await writeDueKeyNotices(source.db, { limit: 1000 }),
  ];
  expect([...claimed, ...checked].filter((each) => each.organizationId === organizationId)).toEqual([]);
  await importTo(organizationId);
  expect(await claimNoticeMails(target.db, { limit: 1000 })).toContainEqual(
    expect.objectContaining({ organizationId }),
  );
  expect(await writeDueKeyNotices(target.db, { limit: 1000 })).toContainEqual(
    expect.objectContaining({ organizationId }),
  );
});

const caught = (error: unknown) => error;

// The race: the write has begun, and its snapshot shows an organization that is not moving.
test.each<[string, (client: Client, id: string) => ReturnType<Client['get']>]>([
  ['POST', (client) => client.post(LIST, { name: 'Late' })],
  [
    'POST with an Idempotency-Key',
    (client) => client.post(LIST, { name: 'Late' }, { headers: { 'Idempotency-Key': 'late' } }),
  ],
  ['PATCH', (client, id) => client.patch(`${LIST}/${id}`, { name: 'Late' })],
  ['DELETE', (client, id) => client.delete(`${LIST}/${id}`)],
  ['PUT', (client) => client.put(`${LIST}/by_external_id/late`, { name: 'Late' })],
])('a %s that waits while the move begins gets 503, and changes nothing', async (_, write) => {
  const { organizationId, client } = await teamWithKey();
  const { body: program } = await client.post(LIST, { name: 'Before' });
  const [moving, writing] = await bothBehindLock(
    organizationId,
    () => startMove(organizationId),
    () => write(client, program.id),
  );
  expect(moving).toMatchObject({ code: 0 });
  expect(writing).toMatchObject(MOVING);
  expect(await source.db.prisma.parentProgram.findMany({ where: { organizationId } })).toMatchObject([
    { name: 'Before' },
  ]);
});

test('a form that rotates a key and waits while the move begins is refused as one during the move', async () => {
  const { organizationId, member } = await teamWithKey();
  const { id: keyId } = await giveKey(source.db, member);
  const act = () => rotateKey(source.db, member, { keyId, userId: member.userId, environment: 'live' }).catch(caught);
  const [moving, acting] = await bothBehindLock(organizationId, () => startMove(organizationId), act);
  expect(moving).toMatchObject({ code: 0 });
  expect(acting).toBeInstanceOf(MovingError);
});

// The race: the revocation begins before the move, and commits before or after the export reads the rows.
test('a form that revokes a key and waits while the move begins or is completed is carried out in both places, or in none', async () => {
  const { organizationId, key, keyId, administrator } = await teamWithKey();
  const move = () => startMove(organizationId).then(() => complete(organizationId));
  const act = () => revokeKey(source.db, administrator, { keyId, userId: administrator.userId }).catch(caught);
  const [, end] = await bothBehindLock(organizationId, move, act);
  expect(await importTo(organizationId)).toMatchObject({ code: 0 });
  expect(await statusInTarget(key)).toBe(end instanceof MovingError ? 200 : 401);
});

/** The ways in which a key of the administrator can end during a move. */
const ENDINGS: [string, (team: TeamWithKey, browser: Browser) => Promise<unknown>][] = [
  ['a person', ({ keyId }, browser) => browser.post(`/profile/api-keys/${keyId}/revoke`, { key_name: 'Test' })],
  ['an operator', ({ keyId }) => admin('revoke-key', '--id', keyId)],
  ['a report', ({ key }) => reportAsProgram(source.url, { keys: [key] })],
  ['a deactivation', (team, browser) => browser.post(`/people/users/${team.administrator.userId}/deactivate`, {})],
];

// The attack: a thief continues to use, in the new installation, a key that was revoked during the move.
describe.each(ENDINGS)('a key that %s ends during a move', (_, end) => {
  async function endedInMove() {
    const team = await teamWithKey();
    const { organizationId, manager, client } = team;
    // The last administrator could not be deactivated, so there is a second one.
    await source.db.prisma.user.updateMany({ where: { id: manager.userId }, data: { role: 'administrator' } });
    const browser = new Browser(source.url);
    await browser.signIn(team.administrator.email, PASSWORD);
    const token = await browser.get('/profile/api-keys').then(() => browser.formToken());
    await startMove(organizationId);
    const post = (path: string, fields: Record<string, string>) => browser.post(path, { form_token: token, ...fields });
    const ended = await end(team, Object.assign(Object.create(browser), { post }));
    expect([0, 200]).toContain(Number(Reflect.get(Object(ended), 'status') ?? Reflect.get(Object(ended), 'code')));
    expect((await client.get(LIST)).status).toBe(401);
    return { ...team, ended };
  }

  test('is refused there, and in the new installation from its first request on', async () => {
    const { organizationId, key, keyId } = await endedInMove();
    await importOnly(organizationId);
    expect(await statusInTarget(key)).toBe(503);
    expect(await complete(organizationId)).toMatchObject(SUCCESS);
    expect(await activate(organizationId)).toMatchObject(SUCCESS);
    expect(await statusInTarget(key)).toBe(401);
    const where = { organizationId, keyId, action: 'key.revoked' };
    expect(await target.db.prisma.auditEvent.findMany({ where })).toEqual(
      await source.db.prisma.auditEvent.findMany({ where }),
    );
    expect(await target.db.prisma.auditEvent.count({ where })).toBe(1);
    const rows = [target, source].map(({ db }) => db.prisma.apiKey.findFirst({ where: { id: keyId } }));
    const [there, here] = await Promise.all(rows);
    expect(there?.isLeaked).toBe(here?.isLeaked);
  });

  test('stays ended if the move is cancelled', async () => {
    const { organizationId, client } = await endedInMove();
    expect(await cancelMove(organizationId)).toMatchObject({ code: 0 });
    expect((await client.get(LIST)).status).toBe(401);
  });
});

test('a person who revokes a key during a move is told that it stays revoked, and can sign out, but sees no other page', async () => {
  const { organizationId, administrator, keyId } = await teamWithKey();
  const browser = new Browser(source.url);
  await browser.signIn(administrator.email, PASSWORD);
  await browser.get('/profile/api-keys');
  const token = { form_token: await browser.formToken() };
  await startMove(organizationId);
  const done = wordsOf(await browser.post(`/profile/api-keys/${keyId}/revoke`, { ...token, key_name: 'Test' }));
  expect(done).toMatch(/The API key is revoked.*does the same there before it serves your organization/s);
  expect(done).not.toContain('is suspended');
  expect(await browser.get(`/profile/api-keys/${keyId}/revoke`)).toMatchObject(MOVING);
  expect((await browser.post('/sign-out', token)).status).toBe(303);
  await importTo(organizationId);
  expect(await target.db.prisma.session.count({ where: { organizationId } })).toBe(0);
});

// No revocation may succeed if the new installation does not learn of it.
test('once a move is completed, a revocation is refused, and nothing is changed', async () => {
  const { organizationId, administrator, keyId, key } = await movingTeam();
  await complete(organizationId);
  const moving = revokeKey(source.db, administrator, { keyId, userId: administrator.userId });
  await expect(moving).rejects.toBeInstanceOf(MovingError);
  expect((await reportAsProgram(source.url, { keys: [key] })).status).toBe(503);
  expect(await source.db.prisma.apiKey.findFirst({ where: { id: keyId } })).toMatchObject({ revokedAt: null });
});

test('a move carries every event that the database accepts meanwhile', async () => {
  const text = "select prosrc from pg_proc where proname = 'refuse_audit_event_of_moving'";
  const { prosrc } = (await source.db.pool.query<{ prosrc: string }>(text)).rows[0] ?? { prosrc: '' };
  expect([...prosrc.matchAll(/'(\w+\.\w+)'/g)].map(([, action]) => action)).toEqual([...CARRIED]);
});
