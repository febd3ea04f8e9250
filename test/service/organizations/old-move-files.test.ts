import { copyFile, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { v7 as newId } from 'uuid';
import { Browser } from '../../support/dashboard/dashboard.ts';
import { PASSWORD } from '../../support/data/accounts.ts';
import { ORGANIZATION } from '../../support/data/team.ts';
import { finishMove } from '../../support/processes/admin.ts';
import { LIST, MOVING, refusal, SUCCESS, useMoves } from '../../support/processes/moves.ts';

const {
  source,
  target,
  folder,
  admin,
  adminOfTarget,
  fileOf,
  completionOf,
  exportOf,
  teamWithKey,
  movingTeam,
  createMovedTeam,
  startMove,
  cancelMove,
  importOnly,
  complete,
  activate,
  importTo,
  deletionOf,
  statusInTarget,
} = await useMoves();

test('it can move back once it was deleted where it came from', async () => {
  const { organizationId, client, administrator } = await createMovedTeam();
  const back = [...exportOf(organizationId, fileOf('back')), '--move'];
  expect(await adminOfTarget(...back)).toMatchObject({ code: 0 });
  const importing = ['import-organization', '--file', fileOf('back')];
  expect(await admin(...importing)).toMatchObject(refusal(/exists in this database/));
  expect(await admin(...deletionOf(organizationId))).toMatchObject({ code: 0 });
  expect((await client.get(LIST)).status).toBe(401);
  const returning = { id: organizationId, file: fileOf('back') };
  expect(await finishMove({ from: target, to: source }, returning)).toMatchObject(SUCCESS);
  expect((await client.get(LIST)).status).toBe(200);
  const browser = new Browser(source.url);
  expect((await browser.signIn(administrator.email, PASSWORD)).status).toBe(303);
});

// The mistake: an operator repeats the steps of the first move while the organization moves back.
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
    expect(await activateHere(completionOf(organizationId))).toMatchObject(refusal(words));
    expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject({ code: 1, stdout: '' });
  };
  await refused(new RegExp(`move ${first}.* arrives .* move ${second}.*complete-move`));
  expect(await client.get(LIST)).toMatchObject(MOVING);
  expect(await finishMove({ from: target, to: source }, { id: organizationId, file: back })).toMatchObject({ code: 0 });
  expect((await client.get(LIST)).status).toBe(200);
  await refused(new RegExp(`has not come with the move of this file, ${first}`));
  expect((await activateHere(`${back}.completion`)).stdout).toContain('It was activated before.');
  await admin(...exportOf(organizationId, join(folder, `${organizationId}-third.jsonl`)), '--move');
  expect(await activateHere(`${back}.completion`)).toMatchObject(
    refusal(new RegExp(`move ${second}.* leaves this database`)),
  );
});

// The other installation has imported a move that was cancelled later, and has not yet imported the following move.
test('the completion of a later move than the one that arrives names the copy that is in the way', async () => {
  const { organizationId } = await movingTeam();
  await importOnly(organizationId);
  await cancelMove(organizationId);
  await startMove(organizationId);
  await complete(organizationId);
  const refused = refusal(/arrives .* earlier move.*delete-organization .*--erase/);
  expect(await activate(organizationId)).toMatchObject(refused);
  expect(await importOnly(organizationId)).toMatchObject(refused);
  await adminOfTarget(...deletionOf(organizationId), '--erase');
  expect(await importTo(organizationId)).toMatchObject(SUCCESS);
});

// The attack: importing an old file, so that revoked keys work again and two databases serve the organization.
describe('a file of a move', () => {
  test('is refused in the database that the organization left, though it is gone there', async () => {
    const { organizationId, client } = await createMovedTeam();
    expect(await admin(...deletionOf(organizationId))).toMatchObject({ code: 0 });
    const refused = refusal(/has left this database.* no longer be imported/);
    expect(await admin('import-organization', '--file', fileOf(organizationId))).toMatchObject(refused);
    expect((await client.get(LIST)).status).toBe(401);
    expect(await source.db.prisma.organization.count({ where: { id: organizationId } })).toBe(0);
  });

  test('is refused where it was imported, once the organization has been erased there', async () => {
    const { organizationId, key } = await createMovedTeam();
    expect(await adminOfTarget(...deletionOf(organizationId), '--erase')).toMatchObject({ code: 0 });
    const refused = refusal(/was imported here on .* good for one import/);
    expect(await importTo(organizationId)).toMatchObject(refused);
    expect(await statusInTarget(key)).toBe(401);
  });

  test('of a cancelled move is refused wherever the organization has been erased since', async () => {
    const { organizationId } = await movingTeam();
    const old = join(folder, `${organizationId}-cancelled.jsonl`);
    await copyFile(fileOf(organizationId), old);
    await cancelMove(organizationId);
    await startMove(organizationId);
    await importTo(organizationId);
    await adminOfTarget(...deletionOf(organizationId), '--erase');
    expect(await adminOfTarget('import-organization', '--file', old)).toMatchObject(refusal(/older than .* on 20/));
    await admin(...deletionOf(organizationId));
    expect(await admin('import-organization', '--file', old)).toMatchObject(
      refusal(/The move of this file was cancelled in this database on 20/),
    );
  });

  // The clock of the exporting installation may be behind the clock of the installation from which the organization came.
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
