import { NOBODY } from '../support/data/actors.ts';
import { KEYRING } from '../support/data/encryption.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/postgres/store.ts';

// What must hold for every writer: a later version, a script, psql. All of it is raw SQL, which bypasses our own checks.

const database = await useDatabase();
const ours = await createTenant(database.db);
const theirs = await createTenant(database.db);

/** Writes one row with these columns; resolves with PostgreSQL's error code and the constraint that refused it. */
async function insertRow(table: string, row: Record<string, unknown>): Promise<string> {
  const names = Object.keys(row);
  const text = `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`;
  return database.db.pool.query(text, Object.values(row)).then(
    () => 'written',
    ({ code, constraint, column }) => `${code} ${constraint ?? column}`,
  );
}

/** Only its length and its key count: rows are not read here. */
const ENCRYPTED = KEYRING.encrypt(Buffer.alloc(32), { column: '', ids: [] });

const organization = (more: object) => ({
  id: crypto.randomUUID(),
  name: 'Test',
  cursor_key: ENCRYPTED,
  ...more,
});
const user = (more: object) => ({
  organization_id: ours.scope.organizationId,
  id: crypto.randomUUID(),
  name: 'Test',
  role: 'viewer',
  email: `${crypto.randomUUID()}@example.test`,
  ...more,
});
const apiKey = (more: object) => ({
  organization_id: ours.scope.organizationId,
  id: crypto.randomUUID(),
  user_id: ours.userId,
  name: crypto.randomUUID(),
  name_key: crypto.getRandomValues(Buffer.alloc(32)),
  key_hash: crypto.getRandomValues(Buffer.alloc(32)),
  key_prefix: 'charter_live_0000',
  permissions: ['parent_programs:read'],
  ...more,
});
const program = (more: object) => ({
  organization_id: ours.scope.organizationId,
  id: crypto.randomUUID(),
  name: 'Test',
  ...more,
});
const idempotencyKey = (more: object) => ({
  organization_id: ours.scope.organizationId,
  key: crypto.randomUUID(),
  request_hash: Buffer.alloc(32),
  ...more,
});

const ROWS = { organizations: organization, users: user, api_keys: apiKey, parent_programs: program };

test('the valid rows that the refusals below each change in one column are accepted', async () => {
  for (const [table, row] of Object.entries(ROWS)) expect(await insertRow(table, row({}))).toBe('written');
  expect(await insertRow('idempotency_keys', idempotencyKey({}))).toBe('written');
});

// The attack: a key of one's own organization whose user or creator belongs to another one.
test('a key cannot refer to a user of another organization', async () => {
  expect(await insertRow('api_keys', apiKey({ user_id: theirs.userId }))).toBe(
    '23503 api_keys_organization_id_user_id_fkey',
  );
  expect(await insertRow('api_keys', apiKey({ created_by_user_id: theirs.userId }))).toBe(
    '23503 api_keys_organization_id_created_by_user_id_fkey',
  );
});

test('a user with keys cannot be deleted', async () => {
  await createKeyRow(database.db, theirs);
  const remove = database.db.pool.query('delete from users where id = $1', [theirs.userId]);
  await expect(remove).rejects.toMatchObject({ code: expect.stringMatching(/^23(001|503)$/) });
});

test('no row can belong to an organization that does not exist', async () => {
  const orphan = { organization_id: NOBODY };
  expect(await insertRow('users', user(orphan))).toBe('23503 users_organization_id_fkey');
  expect(await insertRow('api_keys', apiKey(orphan))).toBe('23503 api_keys_organization_id_user_id_fkey');
  expect(await insertRow('parent_programs', program(orphan))).toBe('23503 parent_programs_organization_id_fkey');
  expect(await insertRow('idempotency_keys', idempotencyKey(orphan))).toBe(
    '23503 idempotency_keys_organization_id_fkey',
  );
});

test.each([
  ['organizations', { cursor_key: ENCRYPTED.subarray(0, 68) }, '23514 organizations_cursor_key_check'],
  ['api_keys', { rotated_at: new Date(), revoked_at: new Date() }, '23514 api_keys_state_check'],
  ['users', { email: 'Ada@example.test' }, '23514 users_email_check'],
  ['users', { role: 'owner' }, '22P02 undefined'],
  ['api_keys', { key_hash: Buffer.alloc(31) }, '23514 api_keys_key_hash_check'],
  ['api_keys', { permissions: ['parent_programs:read', 'everything'] }, '23514 api_keys_permissions_check'],
  ['api_keys', { name_key: null }, '23514 api_keys_name_key_check'],
  ['users', { totp_secret: ENCRYPTED }, '23514 users_totp_secret_check'],
  ['api_keys', { permissions: null }, '23502 permissions'],
  ['parent_programs', { name: '' }, '23514 parent_programs_name_check'],
  ['parent_programs', { name: 'x'.repeat(201) }, '22001 undefined'],
  ['parent_programs', { external_id: '' }, '23514 parent_programs_external_id_check'],
  ['parent_programs', { metadata: '[]' }, '23514 parent_programs_metadata_check'],
] as const)('%s: a row with %j is refused', async (table, change, refusal) => {
  expect(await insertRow(table, ROWS[table](change))).toBe(refusal);
});

test('e-mails of those who have accepted and key hashes are unique across organizations, external ids within one', async () => {
  const row = { email: theirs.email };
  expect(await insertRow('users', user(row))).toBe('23505 users_accepted_email_key');
  const { hash } = await createKeyRow(database.db, theirs);
  expect(await insertRow('api_keys', apiKey({ key_hash: hash }))).toBe('23505 api_keys_key_hash_key');
  const taken = { external_id: 'NOR-1' };
  expect(await insertRow('parent_programs', program(taken))).toBe('written');
  expect(await insertRow('parent_programs', program(taken))).toBe(
    '23505 parent_programs_organization_id_external_id_key',
  );
  const foreign = { ...taken, organization_id: theirs.scope.organizationId };
  expect(await insertRow('parent_programs', program(foreign))).toBe('written');
});

test('a user has at most one current key of a name, and any number of rotated or revoked ones', async () => {
  const same = { name: 'Same', name_key: Buffer.alloc(32) };
  for (const ended of [{ revoked_at: new Date() }, { revoked_at: new Date() }, { rotated_at: new Date() }, {}]) {
    expect(await insertRow('api_keys', apiKey({ ...same, ...ended }))).toBe('written');
  }
  expect(await insertRow('api_keys', apiKey({ ...same, name: 'same' }))).toBe('23505 api_keys_live_name_key');
});
