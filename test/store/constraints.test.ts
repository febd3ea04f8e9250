import { createKeyRow, createTenant, useSharedDatabase } from '../support/postgres/store.ts';

// The rules for every writer, such as a later version, a script or psql. These tests use plain SQL, which bypasses our own
// checks. every-constraint.test.ts tests that each constraint refuses something. These tests show which values a row may have,
// and which values several rows may share.

const database = await useSharedDatabase();
const ours = await createTenant(database.db);
const theirs = await createTenant(database.db);

/** Inserts one row with these columns. Resolves with PostgreSQL's error code and the constraint that refused the row. */
async function insertRow(table: string, row: Record<string, unknown>): Promise<string> {
  const names = Object.keys(row);
  const text = `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`;
  return database.db.pool.query(text, Object.values(row)).then(
    () => 'written',
    ({ code, constraint, column }) => `${code} ${constraint ?? column}`,
  );
}

const ROWS = {
  users: { name: 'Test', role: 'viewer', email: () => `${crypto.randomUUID()}@example.test` },
  api_keys: {
    user_id: ours.userId,
    name: () => crypto.randomUUID(),
    name_key: () => crypto.getRandomValues(Buffer.alloc(32)),
    key_hash: () => crypto.getRandomValues(Buffer.alloc(32)),
    key_prefix: 'charter_live_0000',
    permissions: ['parent_programs:read'],
  },
  parent_programs: { name: 'Test' },
};

async function insert(table: keyof typeof ROWS, change: Record<string, unknown> = {}): Promise<string> {
  const values = Object.entries(ROWS[table]).map(([name, value]) => [
    name,
    typeof value === 'function' ? value() : value,
  ]);
  const ids = { organization_id: ours.scope.organizationId, id: crypto.randomUUID() };
  return insertRow(table, { ...ids, ...Object.fromEntries(values), ...change });
}

test.each([
  ['users', {}, 'written'],
  ['users', { role: 'owner' }, '22P02 undefined'],
  ['api_keys', {}, 'written'],
  ['api_keys', { permissions: ['parent_programs:read', 'everything'] }, '23514 api_keys_permissions_check'],
  ['api_keys', { permissions: null }, '23502 permissions'],
  ['parent_programs', {}, 'written'],
  ['parent_programs', { name: '' }, '23514 parent_programs_name_check'],
  ['parent_programs', { name: 'x'.repeat(201) }, '22001 undefined'],
  ['parent_programs', { external_id: '' }, '23514 parent_programs_external_id_check'],
  ['parent_programs', { metadata: '[]' }, '23514 parent_programs_metadata_check'],
] as const)('%s: a row with %j is %s', async (table, change, outcome) => {
  expect(await insert(table, change)).toBe(outcome);
});

test('a user with keys cannot be deleted', async () => {
  await createKeyRow(database.db, theirs);
  const remove = database.db.pool.query('delete from users where id = $1', [theirs.userId]);
  await expect(remove).rejects.toMatchObject({ code: expect.stringMatching(/^23(001|503)$/) });
});

test('e-mails of those who have accepted and key hashes are unique across organizations, external ids within one', async () => {
  expect(await insert('users', { email: theirs.email })).toBe('23505 users_accepted_email_key');
  const { hash } = await createKeyRow(database.db, theirs);
  expect(await insert('api_keys', { key_hash: hash })).toBe('23505 api_keys_key_hash_key');
  const taken = { external_id: 'NOR-1' };
  expect(await insert('parent_programs', taken)).toBe('written');
  expect(await insert('parent_programs', taken)).toBe('23505 parent_programs_organization_id_external_id_key');
  const foreign = { ...taken, organization_id: theirs.scope.organizationId };
  expect(await insert('parent_programs', foreign)).toBe('written');
});

test('a user has at most one current key of a name, and any number of rotated or revoked ones', async () => {
  const same = { name: 'Same', name_key: Buffer.alloc(32) };
  for (const ended of [{ revoked_at: new Date() }, { revoked_at: new Date() }, { rotated_at: new Date() }, {}])
    expect(await insert('api_keys', { ...same, ...ended })).toBe('written');
  expect(await insert('api_keys', { ...same, name: 'same' })).toBe('23505 api_keys_live_name_key');
});
