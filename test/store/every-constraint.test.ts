import { KEYRING } from '../support/encryption.ts';
import { createKeyRow, createTenant, useDatabase } from '../support/store.ts';

// constraints.test.ts says what some constraints mean. Here the database itself lists them, so that none is without a proof.

const { db } = await useDatabase();
const tenant = await createTenant(db);
const { organizationId } = tenant.scope;
const foreign = await createTenant(db);
const [key, foreignKey] = [await createKeyRow(db, tenant), await createKeyRow(db, foreign)];

const [endpointId, foreignEndpointId, messageId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
const ENCRYPTED = KEYRING.encrypt(Buffer.alloc(32), { column: '', ids: [] });
const bytes = () => crypto.getRandomValues(Buffer.alloc(32));
const owned = () => ({ organization_id: organizationId, id: crypto.randomUUID() });

/** A valid row of each table, with a value for every column of a unique index. */
const ROWS: Record<string, () => Record<string, unknown>> = {
  organizations: () => ({ id: crypto.randomUUID(), name: 'Test', cursor_key: ENCRYPTED }),
  users: () => ({ ...owned(), name: 'Test', role: 'viewer', email: `${crypto.randomUUID()}@example.test` }),
  api_keys: () => ({
    ...owned(),
    user_id: tenant.userId,
    name: crypto.randomUUID(),
    name_key: bytes(),
    key_hash: bytes(),
    key_prefix: 'charter_live_0000',
    permissions: ['parent_programs:read'],
  }),
  parent_programs: () => ({ ...owned(), name: 'Test', external_id: crypto.randomUUID() }),
  events: () => ({ ...owned(), type: 'parent_program.created', timestamp: new Date(), data: '{}' }),
  idempotency_keys: () => ({ organization_id: organizationId, key: crypto.randomUUID(), request_hash: bytes() }),
  sessions: () => ({
    organization_id: organizationId,
    token_hash: bytes(),
    user_id: tenant.userId,
    is_complete: true,
  }),
  access_links: () => ({
    organization_id: organizationId,
    token_hash: bytes(),
    user_id: tenant.userId,
    kind: 'invitation',
    expires_at: new Date(),
  }),
  audit_events: () => ({ ...owned(), act: 'key.created' }),
  key_uses: () => ({
    organization_id: organizationId,
    key_id: key.id,
    period: 'hour',
    starts_at: new Date(Math.floor(Math.random() * 1e12)),
    successful: 1,
    refused: 0,
    failed: 0,
  }),
  webhook_endpoints: () => ({
    ...owned(),
    url: 'https://example.org/',
    event_types: ['parent_program.created'],
    secret: ENCRYPTED,
  }),
  webhook_deliveries: () => ({
    organization_id: organizationId,
    endpoint_id: endpointId,
    message_id: crypto.randomUUID(),
  }),
  webhook_attempts: () => ({
    organization_id: organizationId,
    endpoint_id: endpointId,
    message_id: messageId,
    number: 1 + Math.floor(Math.random() * 1e9),
    at: new Date(),
    duration_ms: 1,
    status: 200,
  }),
  webhook_days: () => ({
    organization_id: organizationId,
    endpoint_id: endpointId,
    day: new Date(Math.floor(Math.random() * 1e12)),
    succeeded: 1,
    failed: 0,
  }),
  encryption_keys: () => ({ id: bytes().subarray(0, 8) }),
  rate_limits: () => ({ subject: crypto.randomUUID(), rate: 1, tokens: 1, granted: 0, updated_at: new Date() }),
  sign_in_failures: () => ({ key: crypto.randomUUID(), points: 1 }),
};

/** For each CHECK, values that violate it alone. */
const VIOLATIONS: Record<string, Record<string, unknown>> = {
  organizations_cursor_key_check: { cursor_key: ENCRYPTED.subarray(0, -1) },
  organizations_max_key_life_days_check: { max_key_life_days: 3651 },
  organizations_requests_per_key: { requests_per_key: -1 },
  organizations_requests_per_organization: { requests_per_organization: 1_000_001 },
  users_email_check: { email: 'Ada@example.test' },
  users_totp_secret_check: { totp_secret: ENCRYPTED },
  api_keys_key_hash_check: { key_hash: Buffer.alloc(31) },
  api_keys_name_key_check: { name_key: null },
  api_keys_permissions_check: { permissions: ['everything'] },
  api_keys_state_check: { rotated_at: new Date(), revoked_at: new Date() },
  parent_programs_name_check: { name: '' },
  parent_programs_external_id_check: { external_id: '' },
  parent_programs_metadata_check: { metadata: '[]' },
  sessions_token_hash_check: { token_hash: Buffer.alloc(31) },
  access_links_token_hash_check: { token_hash: Buffer.alloc(31) },
  audit_events_detail_check: { detail: '[]' },
  encryption_keys_id_check: { id: Buffer.alloc(7) },
  webhook_endpoints_url_check: { url: 'ftp://example.org/' },
  webhook_endpoints_event_types_check: { event_types: [] },
  webhook_endpoints_secret_check: { secret: ENCRYPTED.subarray(0, -1) },
  webhook_endpoints_previous_secret_check: {
    previous_secret: ENCRYPTED.subarray(0, -1),
    previous_secret_until: new Date(),
  },
  webhook_endpoints_previous_check: { previous_secret: ENCRYPTED },
  webhook_endpoints_disabled_check: { disabled_at: new Date() },
  webhook_deliveries_attempts_check: { attempts: -1 },
  webhook_deliveries_failures_check: { failures: -1 },
  webhook_deliveries_next_attempt_check: { state: 'succeeded' },
  webhook_attempts_number_check: { number: 0 },
  webhook_attempts_duration_check: { duration_ms: -1 },
  webhook_attempts_status_check: { status: 99 },
  webhook_attempts_error_check: { error: 'Both a response and none.' },
  webhook_attempts_response_body_check: { response_body: Buffer.alloc(1025) },
  webhook_days_succeeded_check: { succeeded: -1 },
  webhook_days_failed_check: { failed: -1 },
};

for (const [id, owner] of [
  [endpointId, tenant],
  [foreignEndpointId, foreign],
] as const) {
  await insertRow('webhook_endpoints', {
    ...rowOf('webhook_endpoints'),
    id,
    organization_id: owner.scope.organizationId,
  });
}
await insertRow('webhook_deliveries', { ...rowOf('webhook_deliveries'), message_id: messageId });

type Constraint = { readonly table: string; readonly name: string; readonly columns: readonly string[] };

async function constraintsOf(type: 'c' | 'f'): Promise<readonly (Constraint & { readonly target: string | null })[]> {
  const { rows } = await db.pool.query(
    `select conrelid::regclass::text as table, conname as name, nullif(confrelid, 0)::regclass::text as target,
            array(select attname::text from pg_attribute where attrelid = conrelid and attnum = any(conkey)) as columns
     from pg_constraint where contype = $1 and connamespace = 'public'::regnamespace order by conname`,
    [type],
  );
  return rows;
}

async function uniqueIndexes(): Promise<readonly Constraint[]> {
  const { rows } = await db.pool.query(
    `select indrelid::regclass::text as table, indexrelid::regclass::text as name,
            array(select attname::text from pg_attribute where attrelid = indrelid and attnum = any(indkey)) as columns
     from pg_index join pg_class c on c.oid = indrelid
     where indisunique and c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations'`,
  );
  return rows;
}

function rowOf(table: string): Record<string, unknown> {
  const row = ROWS[table];
  if (row === undefined) throw new Error(`Add a valid row of ${table} to this file.`);
  return row();
}

/** The constraint that refuses the row, or "written". */
async function insertRow(table: string, row: Record<string, unknown>): Promise<string> {
  const names = Object.keys(row);
  const text = `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`;
  return db.pool.query(text, Object.values(row)).then(
    () => 'written',
    ({ constraint, message }) => constraint ?? message,
  );
}

test('a valid row of every table is written', async () => {
  for (const table of Object.keys(ROWS))
    expect([table, await insertRow(table, rowOf(table))]).toEqual([table, 'written']);
});

test('every CHECK refuses a row that violates it', async () => {
  const checks = await constraintsOf('c');
  expect(checks.map(({ name }) => name).toSorted()).toEqual(Object.keys(VIOLATIONS).toSorted());
  for (const { table, name } of checks)
    expect(await insertRow(table, { ...rowOf(table), ...VIOLATIONS[name] })).toBe(name);
});

test('every unique index refuses a second row with the same values', async () => {
  for (const { table, name, columns } of await uniqueIndexes()) {
    const first = rowOf(table);
    expect([name, await insertRow(table, first)]).toEqual([name, 'written']);
    const same = Object.fromEntries(columns.map((column) => [column, first[column]]));
    // A session's hash is unique, and so is its pair with the organization: either refuses.
    expect([name, await insertRow(table, { ...rowOf(table), ...same })]).toEqual([
      name,
      expect.not.stringMatching('written'),
    ]);
  }
});

const FOREIGN: Record<string, readonly string[]> = {
  users: [foreign.userId],
  api_keys: [foreignKey.id],
  webhook_endpoints: [foreignEndpointId],
};

// The attack: a row that refers to a row of another organization.
test('every foreign key refuses what does not exist, and a user, a key or an endpoint of another organization', async () => {
  for (const { table, name, columns, target } of await constraintsOf('f')) {
    expect([name, columns]).toEqual([name, expect.arrayContaining(['organization_id'])]);
    const column = columns.find((each) => each !== 'organization_id') ?? 'organization_id';
    const strangers = [crypto.randomUUID(), ...(FOREIGN[target ?? ''] ?? [])];
    for (const stranger of strangers)
      expect(await insertRow(table, { ...rowOf(table), [column]: stranger })).toBe(name);
  }
});
