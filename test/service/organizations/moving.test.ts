import { createHash, randomBytes } from 'node:crypto';
import { copyFile, mkdir, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { v7 as newId } from 'uuid';
import { MovingError } from '../../../src/domain/errors.ts';
import { Keyring } from '../../../src/domain/keyring.ts';
import { PERMISSIONS } from '../../../src/domain/people/role.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { issueKeyByEmail } from '../../../src/service/operator/keys.ts';
import { importOrganizationFrom } from '../../../src/service/operator/moves.ts';
import { checkDueKeys } from '../../../src/store/keys/key-checks.ts';
import { claimNoticeMails } from '../../../src/store/keys/key-notices.ts';
import { CARRIED, markDeletions } from '../../../src/store/organizations/organization-moves.ts';
import { Client } from '../../support/clients/client.ts';
import { Browser, wordsOf } from '../../support/dashboard/dashboard.ts';
import { useDashboard } from '../../support/dashboard/dashboard-server.ts';
import { reportAsProgram } from '../../support/dashboard/reports.ts';
import { PASSWORD } from '../../support/data/accounts.ts';
import { giveKey } from '../../support/data/actors.ts';
import { createTeam, ORGANIZATION, type Team } from '../../support/data/team.ts';
import { useFolder } from '../../support/folder.ts';
import { inTransaction, untilWaiting } from '../../support/postgres/postgres.ts';
import { finishMove, runAdminCommand } from '../../support/processes/admin.ts';
import { createTestOrganization, useServer } from '../../support/servers/server.ts';

const LIST = '/api/parent_programs';

// The second one serves another database.
const [source, target] = [await useDashboard(), await useServer()];
const folder = await useFolder();

const admin = (...parameters: string[]) => runAdminCommand(source.databaseUrl, parameters);
const adminOfTarget = (...parameters: string[]) => runAdminCommand(target.databaseUrl, parameters);
const fileOf = (id: string) => join(folder, `${id}.jsonl`);
const exportOf = (id: string, file: string) => ['export-organization', '--id', id, '--file', file];
const startMove = (id: string) => admin(...exportOf(id, fileOf(id)), '--move');
/** What the work returns when it waits for a table that is locked so, and its connection is then ended. */
const interruptedBy = <T>(lock: string, work: () => Promise<T>): Promise<T> =>
  inTransaction(source.db, async (held) => {
    await held.query(lock);
    const result = work();
    await untilWaiting(source.db.pool, 1);
    await source.db.pool.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and wait_event_type = 'Lock'`,
    );
    return result;
  });
const cancelMove = (id: string) => admin('cancel-move', '--id', id, '--imported-nowhere');
const completionOf = (id: string) => `${fileOf(id)}.completion`;
const complete = (id: string) => admin('complete-move', '--id', id, '--file', completionOf(id));
const activate = (id: string) => adminOfTarget('activate-organization', '--file', completionOf(id));
const importOnly = (id: string) => adminOfTarget('import-organization', '--file', fileOf(id));
const importTo = (id: string) => finishMove({ from: source, to: target }, { id, file: fileOf(id) });
const deletionOf = (id: string) => ['delete-organization', '--id', id, '--name', ORGANIZATION];

async function teamWithKey(): Promise<
  Team & { readonly key: string; readonly keyId: string; readonly client: Client }
> {
  const team = await createTeam(source.db);
  const request = { email: team.administrator.email, name: 'Test', permissions: PERMISSIONS, lifeDays: 30 } as const;
  const { key, id: keyId } = await issueKeyByEmail(source.db, { ...request, environment: 'live' });
  return { ...team, key, keyId, client: new Client(source.url, key) };
}

const MOVING = { status: 503, headers: { 'retry-after': '5' } };

test('requests of a moving organization get 503 with Retry-After, and none of them is logged as a fault', async () => {
  const { organizationId, client } = await teamWithKey();
  await client.post(LIST, { name: 'Before' });
  expect(await startMove(organizationId)).toMatchObject({ code: 0, stderr: '' });
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

test('a cancelled move leaves the organization as it was: active, or suspended', async () => {
  const [active, suspended] = [await teamWithKey(), await teamWithKey()];
  await admin('suspend-organization', '--id', suspended.organizationId);
  for (const { organizationId } of [active, suspended]) {
    await startMove(organizationId);
    const { organizations } = JSON.parse((await admin('--json', 'list-organizations')).stdout);
    const isSuspended = organizationId === suspended.organizationId;
    expect(organizations.find(({ id }: { id: string }) => id === organizationId)).toMatchObject({
      suspended_at: isSuspended ? expect.any(String) : null,
      moving_since: expect.any(String),
    });
    expect(await cancelMove(organizationId)).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('Delete the file of the move: it can still be imported elsewhere.'),
    });
  }
  expect((await active.client.get(LIST)).status).toBe(200);
  expect((await suspended.client.get(LIST)).status).toBe(403);
  expect(await cancelMove(active.organizationId)).toMatchObject({
    code: 1,
    stderr: 'The organization does not move.\n',
  });
});

// Two databases would serve the organization.
test('a move is cancelled only by an operator who confirms that it was imported nowhere', async () => {
  const { organizationId, client } = await teamWithKey();
  await startMove(organizationId);
  await importTo(organizationId);
  for (const refused of [
    await admin('resume-organization', '--id', organizationId),
    await admin('suspend-organization', '--id', organizationId),
  ])
    expect(refused).toMatchObject({ code: 1, stderr: expect.stringContaining('imported there, delete it here') });
  expect(await admin('cancel-move', '--id', organizationId)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('--imported-nowhere'),
  });
  expect(await client.get(LIST)).toMatchObject(MOVING);
});

test('the database that an organization leaves does not import it', async () => {
  const { organizationId } = await teamWithKey();
  await startMove(organizationId);
  expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject({
    code: 1,
    stderr: 'The organization leaves this database. Import the file in the other one.\n',
  });
});

test('of two imports of a move that run at once, one imports the organization, and the other says so', async () => {
  const { organizationId, key } = await teamWithKey();
  await startMove(organizationId);
  const [first, second] = await inTransaction(target.db, async (held) => {
    await held.query('lock table organizations in share mode');
    const importing = importOnly(organizationId);
    await untilWaiting(target.db.pool, 1);
    const refused = await importOnly(organizationId);
    await held.query('commit');
    return [await importing, refused];
  });
  expect(first).toMatchObject({ code: 0, stderr: '' });
  expect(second).toMatchObject({ code: 1, stderr: expect.stringMatching(/^Another import of this organization/) });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(503);
  await importTo(organizationId);
  expect((await target.anonymous.get(LIST, { key })).status).toBe(200);
});

test.each([
  ['cancelled', [cancelMove]],
  ['cancelled and begun anew', [cancelMove, (id: string) => admin(...exportOf(id, fileOf(`${id}-new`)), '--move')]],
])('an export whose move is %s before its end fails, and leaves no file', async (_, acts) => {
  const { organizationId } = await teamWithKey();
  const exported = await inTransaction(source.db, async (held) => {
    await held.query('lock table idempotency_keys in access exclusive mode');
    const exporting = startMove(organizationId);
    await untilWaiting(source.db.pool, 1);
    const [cancel, again] = acts;
    expect(await cancel?.(organizationId)).toMatchObject({ code: 0 });
    const next = again?.(organizationId);
    await held.query('commit');
    const ended = await exporting;
    expect((await next)?.code ?? 0).toBe(0);
    return ended;
  });
  expect(exported).toMatchObject({ code: 1, stdout: '', stderr: expect.stringMatching(/^The move was cancelled/) });
  expect((await readdir(folder)).filter((name) => name.startsWith(`${organizationId}.`))).toEqual([]);
});

test('of two exports to one file, the second one is refused before its organization is stopped', async () => {
  const [moving, other] = [await teamWithKey(), await teamWithKey()];
  const file = fileOf(moving.organizationId);
  const ended = await inTransaction(source.db, async (held) => {
    await held.query('lock table idempotency_keys in access exclusive mode');
    const exporting = startMove(moving.organizationId);
    await untilWaiting(source.db.pool, 1);
    expect(await admin(...exportOf(other.organizationId, file), '--move')).toMatchObject({
      code: 1,
      stderr: expect.stringContaining(`another command writes ${file}, or was killed`),
    });
    await held.query('commit');
    return exporting;
  });
  expect(ended).toMatchObject({ code: 0 });
  expect((await other.client.get(LIST)).status).toBe(200);
  expect(await importTo(moving.organizationId)).toMatchObject({ code: 0 });
});

test('an export does not replace the file of another organization', async () => {
  const [moving, other] = [await teamWithKey(), await teamWithKey()];
  const file = fileOf(moving.organizationId);
  await startMove(moving.organizationId);
  const archive = await readFile(file, 'utf8');
  expect(await admin('export-organization', '--id', other.organizationId, '--file', file, '--move')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/is an archive of another organization, ".+"\. Choose another file/),
  });
  expect(await readFile(file, 'utf8')).toBe(archive);
  expect((await other.client.get(LIST)).status).toBe(200);
  // Its own file can be replaced.
  expect(await startMove(moving.organizationId)).toMatchObject({ code: 0 });
});

test('a suspended organization is suspended after its move, too', async () => {
  const { organizationId, key } = await teamWithKey();
  await admin('suspend-organization', '--id', organizationId);
  await startMove(organizationId);
  expect(await importTo(organizationId)).toMatchObject({ code: 0, stderr: '' });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(403);
});

test('a moving organization is neither suspended, resumed nor changed, but can be exported again', async () => {
  const { organizationId, administrator } = await teamWithKey();
  await startMove(organizationId);
  const first = await readFile(fileOf(organizationId), 'utf8');
  for (const parameters of [
    ['suspend-organization', '--id', organizationId],
    ['resume-organization', '--id', organizationId],
    ['export-organization', '--id', organizationId, '--file', fileOf('data')],
  ])
    expect(await admin(...parameters)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/is moving to another/),
    });
  // It may have moved already, so that another attempt would not help.
  expect(await admin('issue-key', '--user', administrator.email, '--name', 'Late')).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /has moved there\. Run this command there\. If it was imported nowhere, run cancel-move/,
    ),
  });
  await startMove(organizationId);
  const withoutTime = (text: string) => text.replace(/"at":"[^"]*"|"sha256":"[^"]*"/g, '');
  expect(withoutTime(await readFile(fileOf(organizationId), 'utf8'))).toBe(withoutTime(first));
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
    const { organizationId, administrator } = await teamWithKey();
    await startMove(organizationId);
    const browser = new Browser(source.url);
    expect(await browser.signIn(administrator.email, PASSWORD)).toMatchObject({ status: 503 });
    expect(await source.db.prisma.session.count({ where: { organizationId } })).toBe(0);
  });
});

test('notices about keys of a moving organization are left to the database to which it moves', async () => {
  const { organizationId } = await teamWithKey();
  // There is one, because an operator has issued the key.
  await startMove(organizationId);
  const [claimed, checked] = [
    await claimNoticeMails(source.db, { limit: 1000 }),
    await checkDueKeys(source.db, { limit: 1000 }),
  ];
  expect([...claimed, ...checked].filter((each) => each.organizationId === organizationId)).toEqual([]);
  await importTo(organizationId);
  expect(await claimNoticeMails(target.db, { limit: 1000 })).toContainEqual(
    expect.objectContaining({ organizationId }),
  );
  expect(await checkDueKeys(target.db, { limit: 1000 })).toContainEqual(expect.objectContaining({ organizationId }));
});

// The race: the write has begun, and sees in its snapshot an organization that does not move.
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
  const [moving, writing] = await inTransaction(source.db, async (held) => {
    await held.query('select from organizations where id = $1 for update', [organizationId]);
    const move = startMove(organizationId);
    await untilWaiting(source.db.pool, 1);
    const reply = write(client, program.id);
    await untilWaiting(source.db.pool, 2);
    await held.query('commit');
    return Promise.all([move, reply]);
  });
  expect(moving).toMatchObject({ code: 0 });
  expect(writing).toMatchObject(MOVING);
  expect(await source.db.prisma.parentProgram.findMany({ where: { organizationId } })).toMatchObject([
    { name: 'Before' },
  ]);
});

test('a form that rotates a key and waits while the move begins is refused as one during the move', async () => {
  const { organizationId, member } = await teamWithKey();
  const { id: keyId } = await giveKey(source.db, member);
  const [moving, acting] = await inTransaction(source.db, async (held) => {
    await held.query('select from organizations where id = $1 for update', [organizationId]);
    const move = startMove(organizationId);
    await untilWaiting(source.db.pool, 1);
    const act = rotateKey(source.db, member, { keyId, userId: member.userId, environment: 'live' }).catch(
      (error: unknown) => error,
    );
    await untilWaiting(source.db.pool, 2);
    await held.query('commit');
    return Promise.all([move, act]);
  });
  expect(moving).toMatchObject({ code: 0 });
  expect(acting).toBeInstanceOf(MovingError);
});

// The race: the revocation has begun before the move, and is committed after the rows were read, or before.
test('a form that revokes a key and waits while the move begins or is completed is carried out in both places, or in none', async () => {
  const { organizationId, key, keyId, administrator } = await teamWithKey();
  const end = await inTransaction(source.db, async (held) => {
    await held.query('select from organizations where id = $1 for update', [organizationId]);
    const move = startMove(organizationId).then(() => complete(organizationId));
    await untilWaiting(source.db.pool, 1);
    const act = revokeKey(source.db, administrator, { keyId, userId: administrator.userId }).catch(
      (error: unknown) => error,
    );
    await untilWaiting(source.db.pool, 2);
    await held.query('commit');
    await move;
    return act;
  });
  expect(await importTo(organizationId)).toMatchObject({ code: 0 });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(end instanceof MovingError ? 200 : 401);
});

test('an organization that moves goes on with its keys, cursors and idempotency keys', async () => {
  const { organizationId, key, client } = await teamWithKey();
  const after = new Client(target.url, key);
  const headers = { 'Idempotency-Key': 'once' };
  for (const name of ['A', 'B', 'C']) await client.post(LIST, { name });
  const created = await client.post(LIST, { name: 'D' }, { headers });
  const feed = await client.get('/api/events?limit=2');
  const list = await client.get(`${LIST}?limit=2`);
  await startMove(organizationId);
  expect((await after.get(LIST)).status).toBe(401);
  expect(await importTo(organizationId)).toMatchObject({ code: 0, stderr: '' });
  // The source does not serve it any more.
  expect(await client.get(LIST)).toMatchObject(MOVING);
  expect((await after.post(LIST, { name: 'D' }, { headers })).body).toEqual(created.body);
  const next = await after.get(`/api/events?cursor=${feed.body.page.next_cursor}`);
  expect(next.body.data.map((event: { data: { name: string } }) => event.data.name)).toEqual(['C', 'D']);
  const { body } = await after.post(LIST, { name: 'E' });
  const latest = await after.get(`/api/events?cursor=${next.body.page.next_cursor}`);
  expect(latest.body.data.map((event: { data: { id: string } }) => event.data.id)).toEqual([body.id]);
  expect((await after.get(`${LIST}?limit=2&cursor=${list.body.page.next_cursor}`)).status).toBe(200);
});

// The attack on oneself: the last step of a move, in the wrong shell.
test('a deletion without --erase deletes an organization only where it has moved away', async () => {
  const { organizationId, key, client } = await teamWithKey();
  const deleting = ['delete-organization', '--id', organizationId, '--name', ORGANIZATION];
  const refused = { code: 1, stdout: '', stderr: expect.stringMatching(/has not moved away.*nothing was deleted/) };
  expect(await admin(...deleting)).toMatchObject(refused);
  expect((await client.get(LIST)).status).toBe(200);
  await startMove(organizationId);
  await importTo(organizationId);
  expect(await adminOfTarget(...deleting)).toMatchObject(refused);
  expect((await target.anonymous.get(LIST, { key })).status).toBe(200);
  expect(await admin(...deleting)).toMatchObject({ code: 0, stderr: '' });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(200);
});

test('each command of a move names the commands of the next step', async () => {
  const { organizationId } = await teamWithKey();
  const { stdout: exported } = await startMove(organizationId);
  expect(exported).toContain('get 503 now');
  expect(exported).toContain(`npm run admin -- import-organization --file ${fileOf(organizationId)}`);
  expect(exported).toContain(`npm run admin -- cancel-move --id ${organizationId} --imported-nowhere`);
  const { stdout: imported } = await importOnly(organizationId);
  expect(imported).toContain(`npm run admin -- complete-move --id ${organizationId} --file FILE`);
  const { stdout: completed } = await complete(organizationId);
  expect(completed).toContain(`npm run admin -- activate-organization --file ${completionOf(organizationId)}`);
  const { stdout: activated } = await activate(organizationId);
  const deletion = `npm run admin -- delete-organization --id ${organizationId} --name "${ORGANIZATION}"`;
  expect(activated).toContain(deletion);
  expect(activated).not.toContain('moved-keys');
  const activating = ['activate-organization', '--file', completionOf(organizationId)];
  const { stdout: again } = await runAdminCommand(target.databaseUrl, activating, { CHARTER_CELL: 'us1' });
  expect(again).toContain('It was activated before.');
  expect(again).toContain('npm run admin -- moved-keys --file moved-keys.map');
  expect(again).toContain(deletion);
  const { stdout: importedAgain } = await importOnly(organizationId);
  expect(importedAgain).toContain('It was imported and activated before.');
  expect(importedAgain).toContain(deletion);
});

test('it can move back once it was deleted where it came from', async () => {
  const { organizationId, client, administrator } = await teamWithKey();
  await startMove(organizationId);
  await importTo(organizationId);
  const back = ['export-organization', '--id', organizationId, '--file', fileOf('back'), '--move'];
  expect(await adminOfTarget(...back)).toMatchObject({ code: 0 });
  const importing = ['import-organization', '--file', fileOf('back')];
  expect(await admin(...importing)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/exists in this database/),
  });
  expect(await admin('delete-organization', '--id', organizationId, '--name', ORGANIZATION)).toMatchObject({ code: 0 });
  expect((await client.get(LIST)).status).toBe(401);
  const returning = { id: organizationId, file: fileOf('back') };
  expect(await finishMove({ from: target, to: source }, returning)).toMatchObject({ code: 0, stderr: '' });
  expect((await client.get(LIST)).status).toBe(200);
  const browser = new Browser(source.url);
  expect((await browser.signIn(administrator.email, PASSWORD)).status).toBe(303);
});

// The attack on oneself: the steps of the first move, repeated while the organization moves back.
test('the files of an earlier move neither activate nor import an organization that moves back', async () => {
  const { organizationId, client } = await teamWithKey();
  const moveIn = async (file: string): Promise<string> =>
    JSON.parse((await readFile(file, 'utf8')).split('\n')[0] ?? '').move_id;
  const back = join(folder, `${organizationId}-back.jsonl`);
  const activateHere = (file: string) => admin('activate-organization', '--file', file);
  await startMove(organizationId);
  await importTo(organizationId);
  await admin(...deletionOf(organizationId));
  await adminOfTarget(...exportOf(organizationId, back), '--move');
  await admin('import-organization', '--file', back);
  const [first, second] = [await moveIn(fileOf(organizationId)), await moveIn(back)];
  const refused = async (words: RegExp) => {
    expect(await activateHere(completionOf(organizationId))).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(words),
    });
    expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject({ code: 1, stdout: '' });
  };
  await refused(new RegExp(`move ${first}.* arrives .* move ${second}.*complete-move`));
  expect(await client.get(LIST)).toMatchObject(MOVING);
  expect(await finishMove({ from: target, to: source }, { id: organizationId, file: back })).toMatchObject({ code: 0 });
  expect((await client.get(LIST)).status).toBe(200);
  await refused(new RegExp(`has not come with the move of this file, ${first}`));
  expect((await activateHere(`${back}.completion`)).stdout).toContain('It was activated before.');
  await admin(...exportOf(organizationId, join(folder, `${organizationId}-third.jsonl`)), '--move');
  expect(await activateHere(`${back}.completion`)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(new RegExp(`move ${second}.* leaves this database`)),
  });
});

// The other installation has imported a move that was cancelled, and not yet the one that followed.
test('the completion of a later move than the one that arrives names the copy that is in the way', async () => {
  const { organizationId } = await teamWithKey();
  await startMove(organizationId);
  await importOnly(organizationId);
  await cancelMove(organizationId);
  await startMove(organizationId);
  await complete(organizationId);
  const refused = { code: 1, stderr: expect.stringMatching(/arrives .* earlier move.*delete-organization .*--erase/) };
  expect(await activate(organizationId)).toMatchObject(refused);
  expect(await importOnly(organizationId)).toMatchObject(refused);
  await adminOfTarget(...deletionOf(organizationId), '--erase');
  expect(await importTo(organizationId)).toMatchObject({ code: 0, stderr: '' });
});

/** How a key of the administrator ends during a move, each with the status of the response. */
const ENDINGS: [string, (team: Awaited<ReturnType<typeof teamWithKey>>, browser: Browser) => Promise<unknown>][] = [
  ['a person', ({ keyId }, browser) => browser.post(`/profile/api-keys/${keyId}/revoke`, { key_name: 'Test' })],
  ['an operator', ({ keyId }) => admin('revoke-key', '--id', keyId)],
  ['a report', ({ key }) => reportAsProgram(source.url, { keys: [key] })],
  ['a deactivation', (team, browser) => browser.post(`/people/users/${team.administrator.userId}/deactivate`, {})],
];

// The attack: whoever has the key goes on in the new installation, because the revocation was made while the organization moved.
describe.each(ENDINGS)('a key that %s ends during a move', (_, end) => {
  async function endedInMove() {
    const team = await teamWithKey();
    const { organizationId, manager, client } = team;
    // So that the first one may be deactivated.
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
    expect((await target.anonymous.get(LIST, { key })).status).toBe(503);
    expect(await complete(organizationId)).toMatchObject({ code: 0, stderr: '' });
    expect(await activate(organizationId)).toMatchObject({ code: 0, stderr: '' });
    expect((await target.anonymous.get(LIST, { key })).status).toBe(401);
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

// So that no revocation is acknowledged that the new installation does not know.
test('once a move is completed, a revocation is refused, and nothing is changed', async () => {
  const { organizationId, administrator, keyId, key } = await teamWithKey();
  await startMove(organizationId);
  await complete(organizationId);
  const moving = revokeKey(source.db, administrator, { keyId, userId: administrator.userId });
  await expect(moving).rejects.toBeInstanceOf(MovingError);
  expect((await reportAsProgram(source.url, { keys: [key] })).status).toBe(503);
  expect(await source.db.prisma.apiKey.findFirst({ where: { id: keyId } })).toMatchObject({ revokedAt: null });
});

test('an organization is served only where a completion of its move was carried out, and deleted only once it is completed', async () => {
  const [{ organizationId, key }, other] = [await teamWithKey(), await teamWithKey()];
  await startMove(organizationId);
  await startMove(other.organizationId);
  expect(await admin(...deletionOf(organizationId))).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/not completed: run complete-move here/),
  });
  await complete(organizationId);
  expect(await activate(organizationId)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('Run import-organization first'),
  });
  await importOnly(organizationId);
  await importOnly(other.organizationId);
  const text = await readFile(completionOf(organizationId), 'utf8');
  await writeFile(completionOf(organizationId), text.replace('"at":"2', '"at":"1'));
  expect(await activate(organizationId)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/^The file is not a whole .*another checksum.*run complete-move again/),
  });
  expect(await complete(organizationId)).toMatchObject({ code: 0 });
  for (const file of [fileOf(organizationId), completionOf(other.organizationId)])
    expect(await adminOfTarget('activate-organization', '--file', file)).toMatchObject({ code: 1 });
  expect(await adminOfTarget(...deletionOf(organizationId))).toMatchObject({
    code: 1,
    stderr: expect.stringContaining('arrives'),
  });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(503);
  // A copy that was given up can be imported again.
  expect(await adminOfTarget(...deletionOf(organizationId), '--erase')).toMatchObject({ code: 0 });
  expect(await importTo(organizationId)).toMatchObject({ code: 0, stderr: '' });
  expect((await target.anonymous.get(LIST, { key })).status).toBe(200);
});

// The attack: an old file brings keys back that were revoked since, and the organization is served twice.
describe('a file of a move', () => {
  test('is refused in the database that the organization left, though it is gone there', async () => {
    const { organizationId, client } = await teamWithKey();
    await startMove(organizationId);
    await importTo(organizationId);
    expect(await admin(...deletionOf(organizationId))).toMatchObject({ code: 0 });
    const refused = {
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(/has left this database.* no longer be imported/),
    };
    expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject(refused);
    expect((await client.get(LIST)).status).toBe(401);
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  });

  test('is refused where it was imported, once the organization has been erased there', async () => {
    const { organizationId, key } = await teamWithKey();
    await startMove(organizationId);
    await importTo(organizationId);
    expect(await adminOfTarget(...deletionOf(organizationId), '--erase')).toMatchObject({ code: 0 });
    const refused = { code: 1, stderr: expect.stringMatching(/was imported here on .* good for one import/) };
    expect(await importTo(organizationId)).toMatchObject(refused);
    expect((await target.anonymous.get(LIST, { key })).status).toBe(401);
  });

  test('of a cancelled move is refused wherever the organization has been erased since', async () => {
    const { organizationId } = await teamWithKey();
    await startMove(organizationId);
    const old = join(folder, `${organizationId}-cancelled.jsonl`);
    await copyFile(fileOf(organizationId), old);
    await cancelMove(organizationId);
    await startMove(organizationId);
    await importTo(organizationId);
    await adminOfTarget(...deletionOf(organizationId), '--erase');
    expect(await adminOfTarget('import-organization', '--file', old)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/older than .* on 20/),
    });
    await admin(...deletionOf(organizationId));
    expect(await admin('import-organization', '--file', old)).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(/The move of this file was cancelled in this database on 20/),
    });
  });

  // The clock of the installation that it leaves may be behind that of the one from which it came.
  test('is newer than every move before, whatever the clocks say', async () => {
    const { organizationId, client } = await teamWithKey();
    const later = newId({ msecs: Date.now() + 3_600_000 });
    const about = { aboutId: organizationId, aboutName: ORGANIZATION };
    const data = { id: newId(), action: 'organization.moved', ...about, detail: { move: later } };
    await source.db.prisma.operatorAction.create({ data });
    await startMove(organizationId);
    const [head = ''] = (await readFile(fileOf(organizationId), 'utf8')).split('\n');
    expect(JSON.parse(head).move_id > later).toBe(true);
    expect((await client.get(LIST)).status).toBe(503);
  });
});

// The deletion is interrupted while it waits for a table, after some rows are gone and before others.
test.each(['users', 'parent_programs', 'api_keys'])(
  'an organization whose deletion was interrupted at %s is neither served, resumed nor exported again, but deleted',
  async (table) => {
    const { organizationId, client } = await teamWithKey();
    await client.post(LIST, { name: 'Program' });
    const deleting = ['delete-organization', '--id', organizationId, '--name', ORGANIZATION, '--erase'];
    const interrupted = await interruptedBy(`lock table ${table} in share mode`, () => admin(...deleting));
    expect(interrupted).toMatchObject({ code: 1, stdout: '' });
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(1);
    const refused = { code: 1, stderr: expect.stringMatching(/Its deletion has begun.*delete-organization/) };
    expect(await cancelMove(organizationId)).toMatchObject(refused);
    expect(await startMove(organizationId)).toMatchObject(refused);
    expect(await admin('resume-organization', '--id', organizationId)).toMatchObject({ code: 1 });
    expect([401, 503]).toContain((await client.get(LIST)).status);
    expect(await admin(...deleting)).toMatchObject({ code: 0, stderr: '' });
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  },
);

test('a move carries every event that the database accepts meanwhile', async () => {
  const text = "select prosrc from pg_proc where proname = 'refuse_audit_event_of_moving'";
  const { prosrc } = (await source.db.pool.query<{ prosrc: string }>(text)).rows[0] ?? { prosrc: '' };
  expect([...prosrc.matchAll(/'(\w+\.\w+)'/g)].map(([, action]) => action)).toEqual([...CARRIED]);
});

test('a move whose deletion an earlier version has begun is not cancelled after the upgrade', async () => {
  const { organizationId } = await teamWithKey();
  await startMove(organizationId);
  const { id } = await source.db.prisma.organizationMove.findFirstOrThrow({ where: { organizationId } });
  const about = { aboutId: organizationId, aboutName: ORGANIZATION };
  const data = { id: newId(), action: 'organization.deletion_started', ...about, detail: { move: id } };
  await source.db.prisma.operatorAction.create({ data });
  await markDeletions(async (text) => (await source.db.pool.query(text)).rows);
  expect(await cancelMove(organizationId)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(/deletion has begun/),
  });
});

describe('an export for a move that fails', () => {
  test('leaves no file with secrets, and can be repeated', async () => {
    const { organizationId, client } = await teamWithKey();
    const failed = await interruptedBy('lock table parent_programs in access exclusive mode', () =>
      startMove(organizationId),
    );
    expect(failed).toMatchObject({ code: 1, stdout: '' });
    expect((await readdir(folder)).filter((name) => name.startsWith(organizationId))).toEqual([]);
    expect(await client.get(LIST)).toMatchObject(MOVING);
    expect(await startMove(organizationId)).toMatchObject({ code: 0, stderr: '' });
    expect(await importTo(organizationId)).toMatchObject({ code: 0, stderr: '' });
  });

  test('says that the organization is still stopped', async () => {
    const { organizationId, client } = await teamWithKey();
    const failed = await inTransaction(source.db, async (held) => {
      await held.query('lock table parent_programs in access exclusive mode');
      const move = startMove(organizationId);
      await untilWaiting(source.db.pool, 1);
      // It cannot be replaced by a file.
      await mkdir(fileOf(organizationId));
      await held.query('commit');
      return move;
    });
    expect(failed).toMatchObject({
      code: 1,
      stderr: expect.stringMatching(
        /jsonl cannot be read or written: .*still get 503\. Repeat the command.*cancel-move/,
      ),
    });
    expect(await client.get(LIST)).toMatchObject(MOVING);
    expect(await cancelMove(organizationId)).toMatchObject({ code: 0 });
    expect((await client.get(LIST)).status).toBe(200);
  });
});

// The attack: somebody else on the machine can read the file that a command before has left, or has made it.
test('only its owner can read an archive: a partial file that is there is not used', async () => {
  const { organizationId, client } = await teamWithKey();
  const partial = `${fileOf(organizationId)}.partial`;
  await writeFile(partial, 'Left', { mode: 0o644 });
  expect(await startMove(organizationId)).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`delete ${partial}`),
  });
  expect((await client.get(LIST)).status).toBe(200);
  await rm(partial);
  expect(await startMove(organizationId)).toMatchObject({ code: 0, stderr: '' });
  expect((await stat(fileOf(organizationId))).mode & 0o777).toBe(0o600);
});

// The race: the key is rotated while an import encrypts with the old one, and removed before the import commits.
test('an import whose encryption key has been removed from the database is refused', async () => {
  const { organizationId } = await teamWithKey();
  await startMove(organizationId);
  const lines = (await readFile(fileOf(organizationId), 'utf8')).trimEnd().split('\n');
  const db = { ...target.db, keyring: new Keyring([randomBytes(32)]) };
  await expect(
    importOrganizationFrom(db, Readable.from(lines)[Symbol.asyncIterator](), { sourceKeyring: source.db.keyring }),
  ).rejects.toMatchObject({ code: 'conflict', message: expect.stringContaining('encryption key') });
  expect(await target.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
});

/** The lines with an end that fits them. */
function withChecksum(lines: readonly string[]): string[] {
  const rows = lines.slice(0, -1);
  const counts = Object.entries(Object.groupBy(rows.slice(1), (line) => JSON.parse(line).table));
  const sha256 = createHash('sha256')
    .update(rows.map((line) => `${line}\n`).join(''))
    .digest('hex');
  const end = { end: true, rows: Object.fromEntries(counts.map(([table, all]) => [table, all?.length])), sha256 };
  return [...rows, JSON.stringify(end)];
}

describe('an archive that is not whole is refused, and leaves no row', () => {
  test.each<[string, (lines: string[]) => string[], RegExp]>([
    ['without its end', (lines) => lines.slice(0, -1), /not a whole archive.*its end is missing/],
    ['without a row', (lines) => lines.toSpliced(3, 1), /not a whole archive.*rows are missing/],
    ['with a line after its end', (lines) => [...lines, lines[3] ?? ''], /not a whole archive.*goes on after its end/],
    [
      'with another value',
      (lines) => lines.map((line) => line.replace('"email":"', '"email":"x')),
      /not a whole archive.*another checksum/,
    ],
    [
      'with another head',
      ([head = '', ...lines]) => [head.replace('"at":"2', '"at":"1'), ...lines],
      /another checksum/,
    ],
    [
      'without the row of the organization, and with a checksum that fits',
      (lines) => withChecksum(lines.filter((line) => !line.startsWith('{"table":"organizations"'))),
      /does not have exactly one row of the organization/,
    ],
    ['with a row twice', (lines) => lines.toSpliced(3, 0, lines[3] ?? ''), /has a row that the archive has, too/],
    ['with a line that was cut', (lines) => lines.with(3, (lines[3] ?? '').slice(0, 60)), /not a whole archive/],
    [
      'with a row that is no JSON',
      (lines) => lines.with(3, (lines[3] ?? '').replace('":"', '":*"')),
      /not a whole archive/,
    ],
    [
      'with a value that its column does not take',
      (lines) => lines.with(3, (lines[3] ?? '').replace(/"id":"[^"]*"/, '"id":"no UUID"')),
      /not a whole archive/,
    ],
    ['of nothing', () => [], /not a whole archive/],
    ['with a head alone', () => ['{"charter_archive":1,"kind":"move","move_id":"x"}'], /not a whole archive/],
    ['with another text', () => ['{"charter_archive":2}'], /not a whole archive/],
    [
      'of a database of another version',
      ([head = '', ...lines]) => [head.replace('"migrations":[', '"migrations":["20990101000000_later",'), ...lines],
      /different versions of Charter: only the archive has 20990101000000_later/,
    ],
    [
      // The attack: rows of another organization in an archive from elsewhere.
      'with rows of another organization',
      (lines) =>
        lines.map((line, i) =>
          i === 3 ? line.replace(/"organization_id":"[^"]*"/, `"organization_id":"${crypto.randomUUID()}"`) : line,
        ),
      /not a whole archive/,
    ],
  ])('%s', async (_, change, message) => {
    const { organizationId, client } = await teamWithKey();
    await client.post(LIST, { name: 'Program' });
    await startMove(organizationId);
    const lines = (await readFile(fileOf(organizationId), 'utf8')).trimEnd().split('\n');
    await writeFile(
      fileOf(organizationId),
      change(lines)
        .map((line) => `${line}\n`)
        .join(''),
    );
    expect(await importTo(organizationId)).toMatchObject({
      code: 1,
      stdout: '',
      stderr: expect.stringMatching(message),
    });
    expect(await target.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
    expect(await target.db.prisma.user.count({ where: { organizationId } })).toBe(0);
  });
});

test.each(['an e-mail', 'a domain'])(
  'an import that finds %s taken is refused, and says which and by whom',
  async (what) => {
    const { organizationId, administrator } = await teamWithKey();
    const other = await createTestOrganization(target);
    const domain = `${organizationId}.example`;
    const verified = { domain, token: 'x'.repeat(32), verifiedAt: new Date() };
    if (what === 'an e-mail')
      await target.db.prisma.user.updateMany({ where: { email: other.email }, data: { email: administrator.email } });
    else {
      await source.db.prisma.ssoDomain.create({ data: { ...verified, organizationId } });
      await target.db.prisma.ssoDomain.create({ data: { ...verified, organizationId: other.id } });
    }
    await startMove(organizationId);
    const value = what === 'an e-mail' ? administrator.email : domain;
    const { code, stderr } = await importTo(organizationId);
    expect([code, stderr]).toEqual([
      1,
      expect.stringContaining(`(${other.id}) of this database has ${value} already.`),
    ]);
    expect(stderr).toContain(
      what === 'an e-mail'
        ? 'remove the user (admin remove-user), and repeat the import'
        : 'Remove it there (Organization, Sign-in) and repeat the import',
    );
    expect(stderr).toContain(`cancel-move --id ${organizationId} --imported-nowhere`);
    expect(await target.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  },
);

test('an export to a folder is refused before anything is recorded, or the organization stopped', async () => {
  const { organizationId, client } = await teamWithKey();
  for (const options of [[], ['--move']])
    expect(await admin('export-organization', '--id', organizationId, '--file', folder, ...options)).toMatchObject({
      code: 1,
      stderr: `${folder} is a folder. Give the path of a file.\n`,
    });
  expect((await client.get(LIST)).status).toBe(200);
  expect(await source.db.prisma.operatorAction.count({ where: { aboutId: organizationId } })).toBe(0);
});

test.each([
  ['export-organization', '--file', '/nowhere/archive.jsonl'],
  ['import-organization', '--file', '/nowhere/archive.jsonl'],
])('%s names a file that cannot be used', async (command, ...parameters) => {
  const { organizationId } = await teamWithKey();
  const id = command === 'export-organization' ? ['--id', organizationId] : [];
  expect(await admin(command, ...id, ...parameters)).toMatchObject({
    code: 1,
    stderr: expect.stringMatching(
      /^\/nowhere\/archive\.jsonl cannot be read or written: no such file or directory \(ENOENT\)\.\n$/,
    ),
  });
});
