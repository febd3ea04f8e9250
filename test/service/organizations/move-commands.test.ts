import { readFile, writeFile } from 'node:fs/promises';
import { v7 as newId } from 'uuid';
import { markDeletions } from '../../../src/store/organizations/organization-moves.ts';
import { Client } from '../../support/clients/client.ts';
import { ORGANIZATION } from '../../support/data/team.ts';
import { inTransaction, untilWaiting } from '../../support/postgres/postgres.ts';
import { runAdminCommand } from '../../support/processes/admin.ts';
import { LIST, MOVING, refusal, SUCCESS, useMoves } from '../../support/processes/moves.ts';

const {
  source,
  target,
  admin,
  adminOfTarget,
  fileOf,
  completionOf,
  exportOf,
  teamWithKey,
  movingTeam,
  createMovedTeam,
  interruptAt,
  startMove,
  cancelMove,
  importOnly,
  complete,
  activate,
  importTo,
  deletionOf,
  statusInTarget,
} = await useMoves();

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

// If a move was cancelled after an import, two databases would serve the organization.
test('a move is cancelled only by an operator who confirms that it was imported nowhere', async () => {
  const { organizationId, client } = await createMovedTeam();
  for (const refused of [
    await admin('resume-organization', '--id', organizationId),
    await admin('suspend-organization', '--id', organizationId),
  ])
    expect(refused).toMatchObject(refusal('imported there, delete it here'));
  expect(await admin('cancel-move', '--id', organizationId)).toMatchObject(refusal('--imported-nowhere'));
  expect(await client.get(LIST)).toMatchObject(MOVING);
});

test('the database that an organization leaves does not import it', async () => {
  const { organizationId } = await movingTeam();
  expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject({
    code: 1,
    stderr: 'The organization leaves this database. Import the file in the other one.\n',
  });
});

test('of two imports of a move that run at once, one imports the organization, and the other says so', async () => {
  const { organizationId, key } = await movingTeam();
  const [first, second] = await inTransaction(target.db, async (held) => {
    await held.query('lock table organizations in share mode');
    const importing = importOnly(organizationId);
    await untilWaiting(target.db.pool, 1);
    const refused = await importOnly(organizationId);
    await held.query('commit');
    return [await importing, refused];
  });
  expect(first).toMatchObject(SUCCESS);
  expect(second).toMatchObject(refusal(/^Another move, import or deletion of this organization/));
  expect(await statusInTarget(key)).toBe(503);
  await importTo(organizationId);
  expect(await statusInTarget(key)).toBe(200);
});

test('a suspended organization is suspended after its move, too', async () => {
  const { organizationId, key } = await teamWithKey();
  await admin('suspend-organization', '--id', organizationId);
  await startMove(organizationId);
  expect(await importTo(organizationId)).toMatchObject(SUCCESS);
  expect(await statusInTarget(key)).toBe(403);
});

test('a moving organization is neither suspended, resumed nor changed, but can be exported again', async () => {
  const { organizationId, administrator } = await movingTeam();
  const first = await readFile(fileOf(organizationId), 'utf8');
  for (const parameters of [
    ['suspend-organization', '--id', organizationId],
    ['resume-organization', '--id', organizationId],
    exportOf(organizationId, fileOf('data')),
  ])
    expect(await admin(...parameters)).toMatchObject(refusal(/is moving to another/));
  // The organization may have moved already, so the message must not say "try again".
  expect(await admin('issue-key', '--user', administrator.email, '--name', 'Late')).toMatchObject(
    refusal(/has moved there\. Run this command there\. If it was imported nowhere, run cancel-move/),
  );
  await startMove(organizationId);
  const withoutTime = (text: string) => text.replace(/"at":"[^"]*"|"sha256":"[^"]*"/g, '');
  expect(withoutTime(await readFile(fileOf(organizationId), 'utf8'))).toBe(withoutTime(first));
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
  expect(await importTo(organizationId)).toMatchObject(SUCCESS);
  // The source no longer serves the organization.
  expect(await client.get(LIST)).toMatchObject(MOVING);
  expect((await after.post(LIST, { name: 'D' }, { headers })).body).toEqual(created.body);
  const next = await after.get(`/api/events?cursor=${feed.body.page.next_cursor}`);
  expect(next.body.data.map((event: { data: { name: string } }) => event.data.name)).toEqual(['C', 'D']);
  const { body } = await after.post(LIST, { name: 'E' });
  const latest = await after.get(`/api/events?cursor=${next.body.page.next_cursor}`);
  expect(latest.body.data.map((event: { data: { id: string } }) => event.data.id)).toEqual([body.id]);
  expect((await after.get(`${LIST}?limit=2&cursor=${list.body.page.next_cursor}`)).status).toBe(200);
});

// The mistake: an operator runs the last step of a move in the wrong installation.
test('a deletion without --erase deletes an organization only where it has moved away', async () => {
  const { organizationId, key, client } = await teamWithKey();
  const deleting = deletionOf(organizationId);
  const refused = refusal(/has not moved away.*nothing was deleted/);
  expect(await admin(...deleting)).toMatchObject(refused);
  expect((await client.get(LIST)).status).toBe(200);
  await startMove(organizationId);
  await importTo(organizationId);
  expect(await adminOfTarget(...deleting)).toMatchObject(refused);
  expect(await statusInTarget(key)).toBe(200);
  expect(await admin(...deleting)).toMatchObject(SUCCESS);
  expect(await statusInTarget(key)).toBe(200);
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

test('an organization is served only where a completion of its move was carried out, and deleted only once it is completed', async () => {
  const [{ organizationId, key }, other] = [await teamWithKey(), await teamWithKey()];
  await startMove(organizationId);
  await startMove(other.organizationId);
  expect(await admin(...deletionOf(organizationId))).toMatchObject(refusal(/not completed: run complete-move here/));
  await complete(organizationId);
  expect(await activate(organizationId)).toMatchObject(refusal('Run import-organization first'));
  await importOnly(organizationId);
  await importOnly(other.organizationId);
  const text = await readFile(completionOf(organizationId), 'utf8');
  await writeFile(completionOf(organizationId), text.replace('"at":"2', '"at":"1'));
  expect(await activate(organizationId)).toMatchObject(
    refusal(/^The file is not a whole .*another checksum.*run complete-move again/),
  );
  expect(await complete(organizationId)).toMatchObject({ code: 0 });
  for (const file of [fileOf(organizationId), completionOf(other.organizationId)])
    expect(await adminOfTarget('activate-organization', '--file', file)).toMatchObject({ code: 1 });
  expect(await adminOfTarget(...deletionOf(organizationId))).toMatchObject(refusal('arrives'));
  expect(await statusInTarget(key)).toBe(503);
  // After the copy was deleted, the organization can be imported again.
  expect(await adminOfTarget(...deletionOf(organizationId), '--erase')).toMatchObject({ code: 0 });
  expect(await importTo(organizationId)).toMatchObject(SUCCESS);
  expect(await statusInTarget(key)).toBe(200);
});

// The deletion is interrupted while it waits for a table, when some rows are deleted and others are not.
test.each(['users', 'parent_programs', 'api_keys'])(
  'an organization whose deletion was interrupted at %s is neither served, resumed nor exported again, but deleted',
  async (table) => {
    const { organizationId, client } = await teamWithKey();
    await client.post(LIST, { name: 'Program' });
    const deleting = [...deletionOf(organizationId), '--erase'];
    const interrupted = await interruptAt(`lock table ${table} in share mode`, () => admin(...deleting));
    expect(interrupted).toMatchObject({ code: 1, stdout: '' });
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(1);
    const refused = refusal(/Its deletion has begun.*delete-organization/);
    expect(await cancelMove(organizationId)).toMatchObject(refused);
    expect(await startMove(organizationId)).toMatchObject(refused);
    expect(await admin('resume-organization', '--id', organizationId)).toMatchObject({ code: 1 });
    expect([401, 503]).toContain((await client.get(LIST)).status);
    expect(await admin(...deleting)).toMatchObject(SUCCESS);
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  },
);

test('a move whose deletion an earlier version has begun is not cancelled after the upgrade', async () => {
  const { organizationId } = await movingTeam();
  const { id } = await source.db.prisma.organizationMove.findFirstOrThrow({ where: { organizationId } });
  const about = { aboutId: organizationId, aboutName: ORGANIZATION };
  const data = { id: newId(), action: 'organization.deletion_started', ...about, detail: { move: id } };
  await source.db.prisma.operatorAction.create({ data });
  await markDeletions(async (text) => (await source.db.pool.query(text)).rows);
  expect(await cancelMove(organizationId)).toMatchObject(refusal(/deletion has begun/));
});
