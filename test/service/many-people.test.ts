import type { Actor } from '../../src/domain/actor.ts';
import { getUser, listUsers } from '../../src/service/people.ts';
import type { Database } from '../../src/store/database.ts';
import { userListStatement } from '../../src/store/users.ts';
import { createAccount } from '../support/accounts.ts';
import { codeOf } from '../support/actors.ts';
import { planOf } from '../support/plan.ts';
import { openTestDatabase, type TestDatabase } from '../support/store.ts';

let database: TestDatabase;
let db: Database;
let actor: Actor;
let foreign: Actor;
beforeAll(async () => {
  database = await openTestDatabase();
  db = database.db;
  actor = await createAccount(db, { role: 'manager' });
  foreign = await createAccount(db, { role: 'administrator' });
  for (const { scope } of [actor, foreign]) {
    // Every fifth name is shared by many, so that the order needs the id.
    await db.pool.query(
      `insert into users (organization_id, id, email, name, role)
       select $1::uuid, gen_random_uuid(), 'person' || i || '@' || right($1::uuid::text, 8) || '.example',
              case when i % 5 = 0 then 'Ana' else 'Person ' || md5(i::text) end, 'member'
       from generate_series(1, 10000) i`,
      [scope.organizationId],
    );
  }
  // Vacuum, too: of what waits to be put into the search index the planner counts every page.
  await db.pool.query('vacuum analyze users');
});
afterAll(() => database.close());

test('10,000 people come page by page, each once, in one order', async () => {
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

test('the first page, a deep page and a search each use an index', async () => {
  const first = { search: '', after: null, limit: 26 };
  const deep = { ...first, after: { name: 'Person f', id: actor.userId } };
  for (const query of [first, deep]) {
    const plan = await planOf(db, userListStatement(actor.scope, query));
    expect(plan).toContain('using users_organization_id_name_id_idx');
    expect(plan).not.toContain('Sort');
  }
  const plan = await planOf(db, userListStatement(actor.scope, { ...first, search: 'person9876@' }));
  expect(plan).toContain('users_search_idx');
  expect(plan).not.toContain('Seq Scan');
});

test('search finds parts of names and e-mails in any letter case, of this organization alone', async () => {
  const { users } = await listUsers(db, actor, { search: ' PERSON9876@ ' });
  expect(users.map(({ email }) => email)).toEqual([`person9876@${actor.scope.organizationId.slice(-8)}.example`]);
  expect((await listUsers(db, actor, { search: foreign.email })).users).toEqual([]);
  // The attack: a pattern that matches everything, at the cost of everything.
  for (const search of ['%', '_', '\\', "' or true --", 'a\0b']) {
    const found = await listUsers(db, actor, { search });
    expect(
      found.users.every(({ name, email }) => `${name} ${email}`.toLowerCase().includes(search.replace('\0', ''))),
    ).toBe(true);
  }
});

test('a page has 25, and a position that is nonsense begins anew', async () => {
  expect((await listUsers(db, actor)).users).toHaveLength(25);
  const first = await listUsers(db, actor);
  for (const after of [
    '',
    'nonsense',
    Buffer.from('["a","b"]').toString('base64url'),
    Buffer.from('7').toString('base64url'),
  ])
    expect(await listUsers(db, actor, { after })).toEqual(first);
});

test('a list and a user show no hash and no secret', async () => {
  const { users } = await listUsers(db, actor, { search: actor.email });
  const user = await getUser(db, actor, actor.userId);
  expect(users).toEqual([user]);
  expect(Object.keys(user).toSorted()).toEqual(
    ['id', 'name', 'email', 'role', 'createdAt', 'deactivatedAt', 'hasPassword', 'hasSecondFactor'].toSorted(),
  );
});

test('members and viewers see nobody but themselves', async () => {
  // The attack: the URL of the list, typed by hand.
  for (const role of ['member', 'viewer'] as const) {
    const person = await createAccount(db, { role, scope: actor.scope });
    expect(await codeOf(listUsers(db, person))).toBe('forbidden');
    expect(await codeOf(getUser(db, person, actor.userId))).toBe('forbidden');
    expect(await codeOf(getUser(db, person, person.userId))).toBe('done');
  }
});
