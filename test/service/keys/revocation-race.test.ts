import { UnauthenticatedError } from '../../../src/domain/errors.ts';
import { DEFAULT_LIMITS } from '../../../src/domain/keys/request-limits.ts';
import { restrictKey } from '../../../src/service/keys/restrict-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../../src/service/people/change-user.ts';
import { createRow, removeRow, updateRow } from '../../../src/service/resources/rows.ts';
import { insertRow } from '../../../src/store/resources/rows.ts';
import { contentOf } from '../../../src/store/resources/table.ts';
import { PARENT_PROGRAMS } from '../../../src/store/resources/tables/parent-programs.ts';
import { transaction } from '../../../src/store/sql/database.ts';
import { type KeyUses, NO_KEY_USES } from '../../../src/traffic/last-used.ts';
import { createPeople, giveKey, type People } from '../../support/data/actors.ts';
import { inTransaction, untilWaiting } from '../../support/postgres/postgres.ts';
import { requireAccepted, useSharedDatabase } from '../../support/postgres/store.ts';

const database = await useSharedDatabase();

const CONTENT = contentOf(PARENT_PROGRAMS, { name: 'Program' });
const NEW = { content: CONTENT, idempotencyKey: undefined, sentBody: () => '{}' };
const ANY = () => true;

/** Creates an organization and a key of its member, and returns them with the context of a request with the key. */
async function prepare() {
  const { db } = database;
  const people = await createPeople(db);
  const { id: keyId } = await giveKey(db, people.member);
  const refused: string[] = [];
  const keyUses: KeyUses = {
    of: (key, at) => ({ ...NO_KEY_USES.of(key, at), countRefusedUse: () => void refused.push(key.id) }),
  };
  const context = {
    db,
    caller: { scope: people.scope, keyId, integration: null, clientAddress: () => '192.0.2.1' },
    keyUses,
  };
  return { people, keyId, context, refused };
}

type Prepared = Awaited<ReturnType<typeof prepare>>;

const WRITES: Record<string, (prepared: Prepared, id: string) => Promise<unknown>> = {
  creation: ({ context }) => createRow(context, PARENT_PROGRAMS, NEW),
  'creation with an Idempotency-Key': ({ context }) =>
    createRow(context, PARENT_PROGRAMS, { ...NEW, idempotencyKey: crypto.randomUUID() }),
  update: ({ context }, id) => updateRow(context, PARENT_PROGRAMS, { id, patch: { name: 'Other' }, precondition: ANY }),
  deletion: ({ context }, id) => removeRow(context, PARENT_PROGRAMS, { id, precondition: ANY }),
};

// The race: the write has begun, and its snapshot shows the key as active.
test.each(Object.entries(WRITES))('a %s that waits for the revocation of its key is refused', async (_, write) => {
  const prepared = await prepare();
  const { keyId, context, people } = prepared;
  const program = await createRow(context, PARENT_PROGRAMS, NEW);
  const outcome = await inTransaction(database.db, async (client) => {
    // Revokes the key with plain SQL, as an operator might. A trigger takes the lock.
    await client.query('update api_keys set revoked_at = now() where id = $1', [keyId]);
    const writing = write(prepared, program.id).catch((error: unknown) => error);
    await untilWaiting(database.db.pool, 1);
    await client.query('commit');
    return writing;
  });
  expect(outcome).toBeInstanceOf(UnauthenticatedError);
  expect(outcome).toMatchObject({ message: expect.stringMatching(/^This API key was revoked at 20/), presented: true });
  expect(prepared.refused).toEqual([keyId]);
  const { organizationId } = people.scope;
  const stored = await database.db.prisma.parentProgram.findMany({ where: { organizationId } });
  expect(stored.map(({ id, name }) => ({ id, name }))).toEqual([{ id: program.id, name: 'Program' }]);
  expect(await database.db.prisma.idempotencyKey.count({ where: { organizationId } })).toBe(0);
});

const ELSEWHERE = {
  addresses: '198.51.100.0/24',
  requestsPerSecond: null,
  requestLimits: DEFAULT_LIMITS,
  lockedOut: [],
};

const ENDS: Record<string, (people: People, keyId: string) => Promise<unknown>> = {
  revocation: ({ administrator, member: { userId } }, keyId) =>
    revokeKey(database.db, administrator, { keyId, userId }),
  rotation: ({ administrator, member: { userId } }, keyId) =>
    rotateKey(database.db, administrator, { keyId, userId, environment: 'live' }),
  'change of the role': ({ administrator, member: { userId } }) =>
    changeRole(database.db, administrator, { userId, role: 'viewer' }),
  deactivation: ({ administrator, member: { userId } }) => deactivateUser(database.db, administrator, { userId }),
  restriction: ({ administrator, member: { userId } }, keyId) =>
    restrictKey(database.db, administrator, { keyId, userId, ...ELSEWHERE }),
};

// The race: the write has checked the key, and commits after the response to the revocation.
test.each(Object.entries(ENDS))('a %s waits for a write that has checked the key', async (_, end) => {
  const { people, keyId } = await prepare();
  const writer = { keyId, permission: 'parent_programs:write', address: '192.0.2.1' } as const;
  let isEnded = false;
  const ending = await transaction(database.db, async (tx) => {
    const program = { id: crypto.randomUUID(), content: CONTENT, writer };
    requireAccepted(await insertRow(tx, people.scope, PARENT_PROGRAMS, program));
    const running = end(people, keyId).then(() => {
      isEnded = true;
    });
    await untilWaiting(database.db.pool, 1);
    expect(isEnded).toBe(false);
    return { running };
  });
  await ending.running;
});

test('a repeated creation is refused once the key has been revoked, and so is a change that changes nothing', async () => {
  const prepared = await prepare();
  const { context, people, keyId } = prepared;
  const once = { ...NEW, idempotencyKey: 'once' };
  const { id } = await createRow(context, PARENT_PROGRAMS, once);
  const requests = {
    repeated: () => createRow(context, PARENT_PROGRAMS, once),
    'another body': () => createRow(context, PARENT_PROGRAMS, { ...once, content: { ...CONTENT, name: 'Other' } }),
    unchanged: () => updateRow(context, PARENT_PROGRAMS, { id, patch: { name: 'Program' }, precondition: ANY }),
    'not found': () => removeRow(context, PARENT_PROGRAMS, { id: crypto.randomUUID(), precondition: ANY }),
    'changed since': () => removeRow(context, PARENT_PROGRAMS, { id, precondition: () => false }),
  };
  expect(await requests.repeated()).toMatchObject({ id });
  await revokeKey(database.db, people.administrator, { keyId, userId: people.member.userId });
  for (const request of Object.values(requests)) await expect(request()).rejects.toThrow(UnauthenticatedError);
});

const REFUSALS: readonly (readonly [string, string, string, RegExp])[] = [
  ['rotated', 'update api_keys set rotated_at = now() where id = $1', 'unauthenticated', /was rotated at/],
  [
    'expired',
    "update api_keys set expires_at = now() - interval '1 hour' where id = $1",
    'unauthenticated',
    /expired at/,
  ],
  [
    'without the permission',
    `update api_keys set permissions = '{parent_programs:read}' where id = $1`,
    'forbidden',
    /lacks/,
  ],
  ['deleted', 'delete from api_keys where id = $1', 'unauthenticated', /not known/],
  [
    'of a deactivated user',
    'update users set deactivated_at = now() where id = (select user_id from api_keys where id = $1)',
    'unauthenticated',
    /was deactivated at/,
  ],
  [
    'of a viewer',
    `update users set role = 'viewer' where id = (select user_id from api_keys where id = $1)`,
    'forbidden',
    /lacks the permission parent_programs:write/,
  ],
  [
    'that may only be used from elsewhere',
    "update api_keys set allowed_addresses = '{198.51.100.0/24,2001:db8::/32}' where id = $1",
    'forbidden',
    /^This API key may not be used from your address, 192\.0\.2\.1\./,
  ],
  [
    'of a suspended organization',
    'update organizations set suspended_at = now() where id = (select organization_id from api_keys where id = $1)',
    'forbidden',
    /^The organization Test is suspended/,
  ],
];

test.each(REFUSALS)('a key %s gets the refusal of authentication', async (_, sql, code, message) => {
  const prepared = await prepare();
  const { id } = await createRow(prepared.context, PARENT_PROGRAMS, NEW);
  await database.db.pool.query(sql, [prepared.keyId]);
  for (const write of Object.values(WRITES)) {
    const refusal = { code, message: expect.stringMatching(message) };
    await expect(write(prepared, id)).rejects.toMatchObject(refusal);
  }
});

// The race: each of two transactions holds a row for which the other one waits. PostgreSQL would abort one of them.
test('writes, revocations, role changes, deactivations and reactivations never deadlock', async () => {
  const { people, context } = await prepare();
  const { administrator, member } = people;
  const { db } = database;
  const failures: unknown[] = [];
  const { id } = await createRow(context, PARENT_PROGRAMS, NEW);
  const many = (work: (i: number) => Promise<unknown>) =>
    Array.from({ length: 20 }, (_, i) => work(i).catch((error: unknown) => failures.push(error)));
  const other = await giveKey(db, administrator);
  const caller = {
    ...context,
    caller: { scope: people.scope, keyId: other.id, integration: null, clientAddress: () => '192.0.2.1' },
  };
  const keys = await Promise.all(Array.from({ length: 8 }, () => giveKey(db, member)));
  await Promise.all([
    ...many((i) => updateRow(caller, PARENT_PROGRAMS, { id, patch: { name: `Name ${i}` }, precondition: ANY })),
    ...many((i) => createRow(caller, PARENT_PROGRAMS, { ...NEW, idempotencyKey: `key ${i % 5}` })),
    ...keys.map(({ id: keyId }) => revokeKey(db, administrator, { keyId, userId: member.userId })),
    ...many((i) => changeRole(db, administrator, { userId: member.userId, role: i % 2 === 0 ? 'viewer' : 'member' })),
    ...many(() => deactivateUser(db, administrator, { userId: people.viewer.userId })),
    ...many(() => reactivateUser(db, administrator, { userId: people.viewer.userId })),
  ]);
  // On a busy machine, a transaction may not get a connection in time.
  const isLate = /in the given time|timeout exceeded when trying to connect/;
  expect(failures.filter((error) => !isLate.test(String(error)))).toEqual([]);
});
