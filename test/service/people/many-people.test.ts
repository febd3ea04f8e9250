import { getUser, listUsers } from '../../../src/service/people/people.ts';
import { userListStatement, userMatchStatement } from '../../../src/store/people/user-lists.ts';
import { createAccount, givePasskey } from '../../support/data/accounts.ts';
import { codeOf } from '../../support/data/actors.ts';
import { explain } from '../../support/postgres/plans.ts';
import { useDatabase } from '../../support/postgres/store.ts';

const { db } = await useDatabase();
const actor = await createAccount(db, { role: 'manager' });
const foreign = await createAccount(db, { role: 'administrator' });
for (const { scope } of [actor, foreign]) {
  // Every fifth name is shared by many people, so that the id decides their order.
  await db.pool.query(
    `insert into users (organization_id, id, email, name, role)
     select $1::uuid, gen_random_uuid(), 'person' || i || '@' || right($1::uuid::text, 8) || '.example',
            case when i % 5 = 0 then 'Ana' else 'Person ' || md5(i::text) end, 'member'
     from generate_series(1, 10000) i`,
    [scope.organizationId],
  );
}
// The table is vacuumed, too, because the planner counts every page in the pending list of the search index.
await db.pool.query('vacuum analyze users');

test('10,000 people are listed page by page, each once, in one order', async () => {
  const seen: string[] = [];
  let after: string | null = null;
  do {
    const page: Awaited<ReturnType<typeof listUsers>> = await listUsers(db, actor, { after });
    seen.push(...page.users.map(({ id }) => id));
    after = page.next;
  } while (after !== null);
  const { rows } = await db.pool.query('select id from users where organization_id = $1 order by name, id', [
    actor.scope.organizationId,
  ]);
  expect(rows.length).toBeGreaterThan(10_000);
  expect(seen).toEqual(rows.map(({ id }) => id));
});

test('pages lead back the same way, and say which of how many people they have', async () => {
  const search = 'person99';
  const first = await listUsers(db, actor, { search });
  const { rows } = await db.pool.query<{ count: number }>(
    `select count(*)::int from users where organization_id = $1 and name || email like '%person99%'`,
    [actor.scope.organizationId],
  );
  const total = rows[0]?.count ?? 0;
  expect(total).toBeGreaterThan(75);
  expect([first.previous, first.range]).toEqual([null, { first: 1, total }]);
  const second = await listUsers(db, actor, { search, after: first.next });
  const third = await listUsers(db, actor, { search, after: second.next });
  expect(third.range).toEqual({ first: 51, total });
  expect(await listUsers(db, actor, { search, before: third.previous })).toEqual(second);
  expect(await listUsers(db, actor, { search, before: second.previous })).toEqual(first);
  // Beyond 10,000 people, the number is not counted.
  expect((await listUsers(db, actor)).range).toBeNull();
});

test('people can be listed by their state: all, those with an unused invitation, and the deactivated', async () => {
  const [invited, gone, active, withPasskey] = [
    await createAccount(db, { role: 'member', scope: actor.scope }),
    await createAccount(db, { role: 'member', scope: actor.scope }),
    await createAccount(db, { role: 'member', scope: actor.scope }),
    await createAccount(db, { role: 'member', scope: actor.scope }),
  ];
  await db.prisma.user.updateMany({ where: { id: invited.userId }, data: { passwordHash: null } });
  await givePasskey(db, withPasskey);
  await db.prisma.user.updateMany({ where: { id: withPasskey.userId }, data: { passwordHash: null } });
  await db.prisma.user.updateMany({ where: { id: gone.userId }, data: { deactivatedAt: new Date() } });
  for (const { account, states } of [
    { account: invited, states: ['all', 'invited'] },
    { account: gone, states: ['all', 'deactivated'] },
    { account: active, states: ['all'] },
    // This person got the account by single sign-on and added a passkey before the connection was removed.
    { account: withPasskey, states: ['all'] },
  ]) {
    const found: string[] = [];
    for (const state of ['all', 'invited', 'deactivated'] as const) {
      const { users, range } = await listUsers(db, actor, { search: account.email, state });
      expect(range?.total).toBe(users.length);
      if (users.length > 0) found.push(state);
    }
    expect(found).toEqual(states);
  }
});

test('the first page, a deep page and a search each use an index', async () => {
  const first = { search: '', state: 'all', from: null, limit: 26 } as const;
  const position = { name: 'Person f', id: actor.userId };
  const deep = (side: 'after' | 'before') => ({ ...first, from: { ...position, side } });
  for (const query of [first, deep('after'), deep('before')]) {
    const plan = await explain(db, userListStatement(actor.scope, query));
    expect(plan).toContain('using users_organization_id_name_id_idx');
    expect(plan).not.toContain('Sort');
  }
  const plan = await explain(db, userListStatement(actor.scope, { ...first, search: 'person9876@' }));
  const match = await explain(db, userMatchStatement(actor.scope, { text: 'person9876@', limit: 21 }));
  for (const each of [plan, match]) {
    expect(each).toContain('users_search_form_idx');
    expect(each).not.toContain('Seq Scan');
  }
});

test('search finds parts of names and e-mails in any letter case, within this organization only', async () => {
  const { users } = await listUsers(db, actor, { search: ' PERSON9876@ ' });
  expect(users.map(({ email }) => email)).toEqual([`person9876@${actor.scope.organizationId.slice(-8)}.example`]);
  expect((await listUsers(db, actor, { search: foreign.email })).users).toEqual([]);
  // The attack: a pattern that matches every row, at the cost of a full table scan.
  for (const search of ['%', '_', '\\', "' or true --", 'a\0b']) {
    const found = await listUsers(db, actor, { search });
    expect(
      found.users.every(({ name, email }) => `${name} ${email}`.toLowerCase().includes(search.replace('\0', ''))),
    ).toBe(true);
  }
});

test('a list page has 25 people, and an invalid cursor starts at the first page', async () => {
  expect((await listUsers(db, actor)).users).toHaveLength(25);
  const first = await listUsers(db, actor);
  for (const after of [
    '',
    'nonsense',
    Buffer.from('["a","b"]').toString('base64url'),
    Buffer.from('7').toString('base64url'),
  ])
    for (const request of [{ after }, { before: after }]) expect(await listUsers(db, actor, request)).toEqual(first);
});

test('a list and a user contain no hash and no secret', async () => {
  const { users } = await listUsers(db, actor, { search: actor.email });
  const { isSingleSignOnRequired, ...user } = await getUser(db, actor, actor.userId);
  expect(isSingleSignOnRequired).toBe(false);
  expect(users).toEqual([user]);
  expect(Object.keys(user).toSorted()).toEqual(
    [
      'id',
      'name',
      'email',
      'role',
      'createdAt',
      'deactivatedAt',
      'hasAccepted',
      'hasPassword',
      'hasSecondFactor',
      'isLinked',
      'passkeys',
    ].toSorted(),
  );
});

test('members and viewers see only themselves', async () => {
  // The attack: typing the URL of the list by hand.
  for (const role of ['member', 'viewer'] as const) {
    const person = await createAccount(db, { role, scope: actor.scope });
    expect(await codeOf(listUsers(db, person))).toBe('forbidden');
    expect(await codeOf(getUser(db, person, actor.userId))).toBe('forbidden');
    expect(await codeOf(getUser(db, person, person.userId))).toBe('done');
  }
});
