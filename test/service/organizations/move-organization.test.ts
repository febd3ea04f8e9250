// The command `move-organization`, which carries out a whole move: how it continues from each state of a move, and what it
// refuses while requests are still served.
import { randomBytes } from 'node:crypto';
import { chmod, readFile, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { hashKey } from '../../../src/domain/keys/api-key.ts';
import { takeTurn } from '../../../src/store/organizations/organization-moves.ts';
import { ORGANIZATION } from '../../support/data/team.ts';
import { inTransaction, serverUrl } from '../../support/postgres/postgres.ts';
import { runAdminCommand } from '../../support/processes/admin.ts';
import { LIST, MOVING, refusal, type TeamWithKey, useMoves } from '../../support/processes/moves.ts';
import { startServer } from '../../support/servers/server.ts';

const {
  source,
  target,
  folder,
  admin,
  move,
  teamWithKey,
  interruptAt,
  startMove,
  importOnly,
  complete,
  deletionOf,
  statusInTarget,
} = await useMoves();

/** The states of a move in which an operator or an interrupted command can leave an organization, in order. */
const STEPS: readonly (readonly [string, (id: string) => Promise<unknown>])[] = [
  ['not started', async () => {}],
  ['started', startMove],
  ['copied', importOnly],
  ['completed', complete],
];

/** Creates a team whose move is in this state. */
async function teamIn(state: string): Promise<TeamWithKey> {
  const team = await teamWithKey();
  await team.client.post(LIST, { name: 'Program' });
  for (const [name, step] of STEPS) {
    await step(team.organizationId);
    if (name === state) break;
  }
  return team;
}

test.each(STEPS.map(([state]) => state))(
  'a move that is %s goes on until the new database serves the organization, and a repetition changes nothing',
  async (state) => {
    const { organizationId: id, client, key } = await teamIn(state);
    const moved = await move(id);
    expect(moved).toMatchObject({ code: 0 });
    expect(JSON.parse(moved.stdout)).toMatchObject({
      organization_id: id,
      name: ORGANIZATION,
      revocations: 0,
      outage_seconds: expect.any(Number),
      next: expect.stringContaining(`delete-organization --id ${id} --name "${ORGANIZATION}" here`),
    });
    expect(await client.get(LIST)).toMatchObject(MOVING);
    expect(await statusInTarget(key)).toBe(200);
    expect(await target.db.prisma.parentProgram.count({ where: { organizationId: id } })).toBe(1);
    const again = await move(id);
    expect(again).toMatchObject({ code: 0, stderr: expect.stringContaining('The new installation serves the') });
    expect(JSON.parse(again.stdout)).not.toHaveProperty('outage_seconds');
    expect(await move(id, '--undo')).toMatchObject(refusal('cannot be undone'));
    expect(await admin(...deletionOf(id))).toMatchObject({ code: 0 });
  },
);

test.each(['started', 'copied', 'completed'])(
  '--undo of a move that is %s deletes the copy, and the old database serves the organization',
  async (state) => {
    const { organizationId: id, client, key } = await teamIn(state);
    expect(await move(id, '--undo')).toMatchObject({ code: 0 });
    expect((await client.get(LIST)).status).toBe(200);
    expect(await target.db.prisma.organization.count({ where: { id } })).toBe(0);
    expect(await move(id, '--undo')).toMatchObject(refusal('does not move'));
    expect(await move(id)).toMatchObject({ code: 0 });
    expect(await statusInTarget(key)).toBe(200);
  },
);

test('an import that fails in the middle leaves nothing, and the repetition moves the organization', async () => {
  const { organizationId: id, client, key } = await teamIn('not started');
  // The import is terminated after it has inserted the rows of people, while it waits to insert the rows of programs.
  const failed = await interruptAt('lock table parent_programs in share mode', () => move(id), target);
  expect(failed).toMatchObject(
    refusal(/nothing is copied.*Repeat this command: it goes on from there, or add --undo/s),
  );
  expect(await client.get(LIST)).toMatchObject(MOVING);
  expect(await target.db.prisma.user.count({ where: { organizationId: id } })).toBe(0);
  expect(await move(id)).toMatchObject({ code: 0 });
  expect(await statusInTarget(key)).toBe(200);
});

test('an organization that another command moves, imports or deletes is neither moved nor is its move undone', async () => {
  const { organizationId: id, key, administrator } = await teamWithKey();
  await inTransaction(source.db, async (held) => {
    await takeTurn(async (text, values) => (await held.query(text, values)).rows, administrator.scope, {
      inTransaction: true,
    });
    for (const options of [[], ['--undo']])
      expect(await move(id, ...options)).toMatchObject(
        refusal(/^Another move, import or deletion .* Wait for its end/),
      );
  });
  expect(await move(id)).toMatchObject({ code: 0 });
  expect(await statusInTarget(key)).toBe(200);
});

const anotherKey = randomBytes(32).toString('base64');

test.each<[string, (team: TeamWithKey) => { options?: string[]; env?: Record<string, string> }, RegExp]>([
  ['no other database', () => ({ env: { MOVE_TO_DATABASE_URL: '' } }), /MOVE_TO_DATABASE_URL is missing.*Set it to/],
  [
    'an URL that is none',
    () => ({ env: { MOVE_TO_DATABASE_URL: 'us1' } }),
    /MOVE_TO_DATABASE_URL is not a PostgreSQL URL/,
  ],
  [
    'the same database',
    () => ({ env: { MOVE_TO_DATABASE_URL: source.databaseUrl } }),
    /Both databases have this organization.*are the same database/,
  ],
  [
    'another encryption key',
    () => ({ env: { MOVE_TO_ENCRYPTION_KEY: anotherKey } }),
    /MOVE_TO_ENCRYPTION_KEY.* lacks (a key with which secrets|the key) /,
  ],
  ['a text as its key', () => ({ env: { MOVE_TO_ENCRYPTION_KEY: 'x' } }), /MOVE_TO_ENCRYPTION_KEY is not a key/],
  ['a map without cells', () => ({ options: ['--map', '/x'] }), /--map and --domain-map need --to-cell/],
  ['a cell without cells', () => ({ options: ['--to-cell', 'us1'] }), /--to-cell needs CHARTER_CELL/],
  ['its own cell', () => ({ options: ['--to-cell', 'eu1'], env: { CHARTER_CELL: 'eu1' } }), /which is this cell/],
  ['a reload of nothing', () => ({ options: ['--reload', 'true'] }), /--reload needs --map/],
  [
    'a map that does not exist',
    () => ({ options: ['--to-cell', 'us1', '--map', join(folder, 'none.map')], env: { CHARTER_CELL: 'eu1' } }),
    /none\.map cannot be read or written: no such file/,
  ],
  ['an address that is none', () => ({ options: ['--verify-url', 'x'] }), /Give an origin, such as https:/],
])('%s is refused while requests are served', async (_, given, message) => {
  const team = await teamWithKey();
  const { options = [], env = {} } = given(team);
  const parameters = ['move-organization', '--id', team.organizationId, ...options];
  const variables = { MOVE_TO_DATABASE_URL: target.databaseUrl, ...env };
  const refused = await runAdminCommand(source.databaseUrl, parameters, variables);
  expect(refused).toMatchObject(refusal(message));
  expect((await team.client.get(LIST)).status).toBe(200);
});

test('a database without tables, an unknown one, and an e-mail that is taken there are refused while requests are served', async () => {
  const { organizationId: id, client, administrator } = await teamWithKey();
  const moveTo = (url: string) =>
    runAdminCommand(source.databaseUrl, ['move-organization', '--id', id], { MOVE_TO_DATABASE_URL: url });
  expect(await moveTo(await serverUrl('missing'))).toMatchObject(refusal('correct MOVE_TO_DATABASE_URL'));
  expect(await moveTo(await serverUrl('postgres'))).toMatchObject(refusal('has no tables of Charter'));
  const { email } = await source.db.prisma.user.findFirstOrThrow({ where: { id: administrator.userId } });
  const named = ['--name', 'Other', '--admin-email', email ?? '', '--admin-name', 'Ada'];
  await runAdminCommand(target.databaseUrl, ['create-organization', ...named]);
  await target.db.prisma.user.updateMany({ where: { email }, data: { hasAccepted: true } });
  expect(await move(id)).toMatchObject(refusal(/has .* already\. Only one user.*Nothing was moved/));
  expect((await client.get(LIST)).status).toBe(200);
});

test('the maps get the keys of the organization and keep other cells, and the common address is tried before the move and after it', async () => {
  await using us1 = await startServer({ cell: 'us1' });
  const { organizationId: id, key } = await teamWithKey();
  const [map, log] = [join(folder, 'moved-keys.map'), join(folder, 'reloads')];
  await writeFile(map, `${hashKey('kept')} ap1\n${hashKey('outdated')} us1\n`);
  await chmod(map, 0o640);
  const env = { CHARTER_CELL: 'eu1', MOVE_TO_DATABASE_URL: us1.databaseUrl };
  const reload = `echo "\${ENCRYPTION_KEY-}\${MOVE_TO_DATABASE_URL-}$(wc -l < ${map})" >> ${log}`;
  const options = ['--to-cell', 'us1', '--map', map, '--reload', reload];
  const moveBy = (...others: string[]) =>
    runAdminCommand(source.databaseUrl, ['--json', 'move-organization', '--id', id, ...options, ...others], env);
  // The server of the old installation is not the cell us1.
  const refused = await moveBy('--verify-url', source.url);
  expect(refused).toMatchObject(refusal(/has not started: .*does not send moved keys to the cell us1/s));
  expect(await statusInTarget(key)).toBe(401);
  const failed = await moveBy('--reload', 'exit 3');
  expect(failed).toMatchObject(refusal(/--reload failed \(exit code 3\): exit 3/));
  const moved = await moveBy('--verify-url', us1.url);
  expect(moved).toMatchObject({ code: 0, stderr: expect.stringContaining(`${us1.url} sends moved keys to us1`) });
  expect(JSON.parse(moved.stdout).next).not.toContain('Send the requests');
  const lines = await readFile(map, 'utf8');
  expect(lines).toContain(`${hashKey('kept')} ap1\n`);
  expect(lines).toContain(`${hashKey(key)} us1\n`);
  expect(lines).not.toContain(hashKey('outdated'));
  expect((await stat(map)).mode & 0o777).toBe(0o640);
  // The log contains only line counts of the map, so the command of --reload got no secret.
  expect((await readFile(log, 'utf8')).split('\n').filter((line) => !/^\d*$/.test(line))).toEqual([]);
});
