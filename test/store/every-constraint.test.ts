import { createRow, resources } from '../support/contract/resources.ts';
import { KEYRING } from '../support/postgres/postgres.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

// constraints.test.ts tests what some constraints mean. This file lists all constraints from the database, so that each one is
// tested.

const server = await useServer();
const { db } = server;
const [ours, theirs] = [await createTestOrganization(server), await createTestOrganization(server)];
const organizationId = ours.id;
const userId = (await rowIn('users', ours.id))['id'];
const keyId = (await rowIn('api_keys', ours.id))['id'];

const [endpointId, foreignEndpointId, messageId] = [crypto.randomUUID(), crypto.randomUUID(), crypto.randomUUID()];
const ENCRYPTED = KEYRING.encrypt(Buffer.alloc(32), { column: '', ids: [] });
const bytes = () => crypto.getRandomValues(Buffer.alloc(32));
const owned = () => ({ organization_id: organizationId, id: crypto.randomUUID() });

/** Spare organizations and users, for tables that can have only one row for each of them. */
const [spareOrganizations, spareUsers]: [unknown[], unknown[]] = [[], []];
const SPARE = 50;
/** The last day that was used, in days since 1970. */
let lastDay = 0;
function newDay(): Date {
  lastDay += 1;
  return new Date(lastDay * 86_400_000);
}

/** A valid row of each table that does not belong to a resource, with a value for every column of a unique index. */
const ROWS: Record<string, () => Record<string, unknown>> = {
  organizations: () => ({ id: crypto.randomUUID(), name: 'Test', cursor_key: ENCRYPTED }),
  users: () => ({ ...owned(), name: 'Test', role: 'viewer', email: `${crypto.randomUUID()}@example.test` }),
  api_keys: () => ({
    ...owned(),
    user_id: userId,
    name: crypto.randomUUID(),
    name_key: bytes(),
    key_hash: bytes(),
    key_prefix: 'charter_live_0000',
    permissions: ['parent_programs:read'],
  }),
  events: () => ({ ...owned(), type: 'parent_program.created', timestamp: new Date(), data: '{}' }),
  idempotency_keys: () => ({ organization_id: organizationId, key: crypto.randomUUID(), request_hash: bytes() }),
  sessions: () => ({
    organization_id: organizationId,
    token_hash: bytes(),
    user_id: userId,
    is_complete: true,
  }),
  passkeys: () => ({
    ...owned(),
    user_id: userId,
    credential_id: bytes(),
    user_handle: bytes(),
    public_key: bytes(),
    counter: 0,
    is_backup_eligible: false,
    is_backed_up: false,
    name: 'Laptop',
  }),
  passkey_challenges: () => ({
    challenge_hash: bytes(),
    browser_hash: bytes(),
    purpose: 'sign_in',
    expires_at: new Date(),
  }),
  access_links: () => ({
    organization_id: organizationId,
    token_hash: bytes(),
    user_id: userId,
    kind: 'invitation',
    expires_at: new Date(),
  }),
  audit_events: () => ({ ...owned(), act: 'key.created' }),
  key_uses: () => ({
    organization_id: organizationId,
    key_id: keyId,
    period: 'hour',
    starts_at: new Date(Math.floor(Math.random() * 1e12)),
    successful: 1,
    refused: 0,
    failed: 0,
  }),
  key_operation_uses: () => ({
    organization_id: organizationId,
    key_id: keyId,
    operation: 'getKey',
    starts_at: new Date(Math.floor(Math.random() * 1e12)),
    successful: 1,
    refused: 0,
    failed: 0,
  }),
  key_requests: () => ({
    organization_id: organizationId,
    key_id: keyId,
    at: new Date(),
    request_id: crypto.randomUUID(),
    operation: 'getKey',
    status: 200,
    duration_ms: 1,
  }),
  key_networks: () => ({
    organization_id: organizationId,
    key_id: keyId,
    network: crypto.randomUUID(),
    first_seen_at: new Date(),
    last_seen_at: new Date(),
  }),
  key_notices: () => ({
    ...owned(),
    key_id: keyId,
    user_id: userId,
    kind: 'limited',
    occasion: crypto.randomUUID(),
    is_for_address: false,
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
    day: newDay(),
    succeeded: 1,
    failed: 0,
  }),
  sso_connections: () => ({
    organization_id: spareOrganizations.pop(),
    issuer: 'https://login.example',
    client_id: 'charter',
    client_secret: ENCRYPTED,
  }),
  sso_domains: () => ({
    organization_id: organizationId,
    domain: `${crypto.randomUUID()}.example`,
    token: 't'.repeat(32),
  }),
  sso_group_roles: () => ({ organization_id: organizationId, group_name: crypto.randomUUID(), role: 'member' }),
  sso_identities: () => ({
    organization_id: organizationId,
    user_id: spareUsers.pop(),
    issuer: 'https://login.example',
    subject: crypto.randomUUID(),
  }),
  sso_sign_ins: () => ({
    organization_id: organizationId,
    token_hash: bytes(),
    browser_hash: bytes(),
    issuer: 'https://login.example',
    next: '/profile',
  }),
  organization_moves: () => ({ organization_id: spareOrganizations.pop(), id: crypto.randomUUID() }),
  operator_actions: () => ({
    id: crypto.randomUUID(),
    action: 'organization.deleted',
    about_id: organizationId,
    about_name: 'Test',
  }),
  encryption_keys: () => ({ id: bytes().subarray(0, 8) }),
  rate_limits: () => ({ subject: crypto.randomUUID(), rate: 1, tokens: 1, granted: 0, updated_at: new Date() }),
  sign_in_failures: () => ({ key: crypto.randomUUID(), points: 1 }),
};

const INTEGRATION = { kind: 'integration', email: null, owner_user_id: userId };

/** For constraints that apply only to some rows: values with which the constraint applies to a row. */
const CONCERNED: Record<string, Record<string, unknown>> = {
  users_integration_name_key: { ...INTEGRATION, name: 'An integration' },
  users_organization_id_owner_user_id_fkey: INTEGRATION,
  api_keys_organization_id_moved_from_user_id_fkey: { moved_at: new Date() },
  sso_connections_organization_id_break_glass_user_id_fkey: { enforced_at: new Date() },
  sso_domains_verified_key: { verified_at: new Date() },
  sso_sign_ins_organization_id_user_id_fkey: { subject: 'ada' },
};

/**
 * For each CHECK, values that violate only this CHECK. A resource's CHECK needs an entry only if it accepts all values of
 * `UNUSUAL`.
 */
const VIOLATIONS: Record<string, Record<string, unknown>> = {
  organizations_cursor_key_check: { cursor_key: ENCRYPTED.subarray(0, -1) },
  organizations_ends_unused_check: { ends_unused_after_days: 6, ends_unused_since: new Date() },
  organizations_max_key_life_days_check: { max_key_life_days: 3651 },
  organizations_requests_per_key: { requests_per_key: -1 },
  organizations_requests_per_organization: { requests_per_organization: 1_000_001 },
  users_email_check: { email: 'Ada@example.test' },
  users_has_accepted_check: { has_accepted: false, password_hash: 'hash' },
  users_totp_secret_check: { totp_secret: ENCRYPTED },
  users_integration_email_check: { email: null },
  users_integration_owner_check: { owner_user_id: userId },
  users_integration_role_check: { ...INTEGRATION, role: 'manager' },
  users_integration_sign_in_check: { ...INTEGRATION, password_hash: 'hash' },
  users_person_notes_check: { description: 'A person' },
  users_notice_email_check: { ...INTEGRATION, notice_email: 'Ada@example.test' },
  api_keys_key_hash_check: { key_hash: Buffer.alloc(31) },
  api_keys_name_key_check: { name_key: null },
  api_keys_permissions_check: { permissions: ['everything'] },
  api_keys_moved_check: { moved_at: new Date() },
  api_keys_allowed_addresses_check: { allowed_addresses: Array.from({ length: 51 }, (_, i) => `192.0.2.${i}`) },
  api_keys_requests_per_second_check: { requests_per_second: 0 },
  api_keys_state_check: { rotated_at: new Date(), revoked_at: new Date() },
  sessions_token_hash_check: { token_hash: Buffer.alloc(31) },
  passkeys_credential_id_check: { credential_id: Buffer.alloc(1024) },
  passkeys_user_handle_check: { user_handle: Buffer.alloc(65) },
  passkeys_counter_check: { counter: 2 ** 32 },
  passkeys_backup_check: { is_backed_up: true },
  passkey_challenges_registration_check: { purpose: 'registration' },
  access_links_token_hash_check: { token_hash: Buffer.alloc(31) },
  audit_events_detail_check: { detail: '[]' },
  operator_actions_detail_check: { detail: '[]' },
  encryption_keys_id_check: { id: Buffer.alloc(7) },
  sso_connections_issuer_check: { issuer: 'ftp://login.example' },
  sso_connections_client_id_check: { client_id: '' },
  sso_connections_client_secret_check: { client_secret: ENCRYPTED.subarray(0, 37) },
  sso_connections_new_people_role_check: { new_people_role: 'manager' },
  sso_connections_enforced_check: { enforced_at: new Date() },
  sso_domains_domain_check: { domain: 'Example.org' },
  sso_domains_token_check: { token: 'short' },
  sso_group_roles_group_name_check: { group_name: '' },
  sso_group_roles_role_check: { role: 'administrator' },
  sso_identities_subject_check: { subject: '' },
  sso_sign_ins_token_hash_check: { token_hash: Buffer.alloc(31) },
  sso_sign_ins_browser_hash_check: { browser_hash: Buffer.alloc(31) },
  sso_sign_ins_link_hash_check: { link_hash: Buffer.alloc(31) },
  sso_sign_ins_sealed_form_check: { sealed_form: Buffer.alloc(18_433) },
  sso_sign_ins_user_check: { subject: 'ada' },
  sso_sign_ins_group_role_check: { group_role: 'administrator' },
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

/** Unusual values. Most CHECKs of a single column refuse at least one of them. */
const UNUSUAL = ['', ' ', '[]', -1, 2 ** 31 - 1];

type Constraint = { readonly table: string; readonly name: string; readonly columns: readonly string[] };
/** `targetColumns` are the columns to which `columns` refer, in the same order. A CHECK has no target. */
type Reference = Constraint & { readonly target: string | null; readonly targetColumns: readonly string[] };

const [checks, foreignKeys, indexes] = [await constraintsOf('c'), await constraintsOf('f'), await uniqueIndexes()];

const { rows: lengths } = await db.pool.query<{ column: string; length: number }>(
  `select table_name || '.' || column_name as column, character_maximum_length as length
   from information_schema.columns where table_schema = 'public' and character_maximum_length is not null`,
);
const maxLengths = new Map(lengths.map(({ column, length }) => [column, length]));

const created = new Map<string, Record<string, unknown>>();
for (const resource of resources) {
  for (const { client } of [ours, theirs]) await createRow(client, resource);
  created.set(resource.table, await rowIn(resource.table, ours.id));
}
for (let i = 0; i < SPARE; i += 1) {
  const [organization, user] = [rowOf('organizations'), rowOf('users')];
  await insertRow('organizations', organization);
  await insertRow('users', user);
  spareOrganizations.push(organization['id']);
  spareUsers.push(user['id']);
}
for (const { id } of [ours, theirs])
  await insertRow('sso_connections', { ...rowOf('sso_connections'), organization_id: id });
for (const [id, owner] of [
  [endpointId, ours],
  [foreignEndpointId, theirs],
] as const) {
  await insertRow('webhook_endpoints', { ...rowOf('webhook_endpoints'), id, organization_id: owner.id });
}
for (const changes of [{ message_id: messageId }, { organization_id: theirs.id, endpoint_id: foreignEndpointId }]) {
  await insertRow('webhook_deliveries', { ...rowOf('webhook_deliveries'), ...changes });
}

async function constraintsOf(type: 'c' | 'f'): Promise<readonly Reference[]> {
  const { rows } = await db.pool.query(
    `select conrelid::regclass::text as table, conname as name, nullif(confrelid, 0)::regclass::text as target,
            ${columnsIn('conrelid', 'conkey')} as columns, ${columnsIn('confrelid', 'confkey')} as "targetColumns"
     from pg_constraint where contype = $1 and connamespace = 'public'::regnamespace order by conname`,
    [type],
  );
  return rows;
}

/** Returns SQL for the names of the columns with these numbers, in order. */
function columnsIn(table: string, numbers: string): string {
  return `array(select attname::text from unnest(${numbers}) with ordinality as own (number, place)
                join pg_attribute on attrelid = ${table} and attnum = own.number order by place)`;
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
  return ROWS[table]?.() ?? copyOf(table);
}

/** Returns a copy of the resource's row with new values in the columns that must be unique. */
function copyOf(table: string): Record<string, unknown> {
  const row = created.get(table);
  if (row === undefined) throw new Error(`Add a valid row of ${table} to this file.`);
  const references = columnsOf(foreignKeys, table);
  const unique = columnsOf(indexes, table).filter((column) => !references.includes(column));
  return { ...row, ...Object.fromEntries(unique.map((column) => [column, newValueFor(table, column)])) };
}

/** Returns a new id, or only its end if the column is too short. */
function newValueFor(table: string, column: string): string {
  return crypto.randomUUID().slice(-(maxLengths.get(`${table}.${column}`) ?? 36));
}

function columnsOf(constraints: readonly Constraint[], table: string): readonly string[] {
  return constraints.filter((each) => each.table === table).flatMap(({ columns }) => columns);
}

async function rowIn(table: string, owner: string): Promise<Record<string, unknown>> {
  const { rows } = await db.pool.query(`select * from ${table} where organization_id = $1 limit 1`, [owner]);
  if (rows[0] === undefined) throw new Error(`Insert a row of ${table} for both organizations in this file.`);
  return rows[0];
}

/** Inserts the row, and returns the constraint that refused it, or "written". */
async function insertRow(table: string, row: Record<string, unknown>): Promise<string> {
  const names = Object.keys(row);
  const text = `insert into ${table} (${names.join(', ')}) values (${names.map((_, i) => `$${i + 1}`).join(', ')})`;
  return db.pool.query(text, Object.values(row)).then(
    () => 'written',
    ({ constraint, message }) => constraint ?? message,
  );
}

test('a valid row of every table is written', async () => {
  for (const table of [...Object.keys(ROWS), ...created.keys()])
    expect([table, await insertRow(table, rowOf(table))]).toEqual([table, 'written']);
});

test('every CHECK refuses a row that violates it', async () => {
  const byHand = checks.filter(({ name, table }) => VIOLATIONS[name] !== undefined || !created.has(table));
  expect(byHand.map(({ name }) => name).toSorted()).toEqual(Object.keys(VIOLATIONS).toSorted());
  for (const { table, name } of byHand)
    expect(await insertRow(table, { ...rowOf(table), ...VIOLATIONS[name] })).toBe(name);
});

test('every CHECK of a resource refuses an unusual value', async () => {
  const others = checks.filter(({ name, table }) => VIOLATIONS[name] === undefined && created.has(table));
  expect(others.map(({ name }) => name)).toContain('parent_programs_name_check');
  for (const { table, name, columns } of others) {
    const refusals: string[] = [];
    for (const value of UNUSUAL) {
      const violation = Object.fromEntries(columns.map((column) => [column, value]));
      refusals.push(await insertRow(table, { ...rowOf(table), ...violation }));
    }
    if (!refusals.includes(name)) throw new Error(`Add values that violate ${name} alone to VIOLATIONS in this file.`);
  }
});

test('every unique index refuses a second row with the same values', async () => {
  for (const { table, name, columns } of indexes) {
    const first = { ...rowOf(table), ...CONCERNED[name] };
    expect([name, await insertRow(table, first)]).toEqual([name, 'written']);
    const same = Object.fromEntries(columns.map((column) => [column, first[column]]));
    // Several indexes may refuse the row. For example, a session's hash is unique alone, and together with the organization.
    expect([name, await insertRow(table, { ...rowOf(table), ...CONCERNED[name], ...same })]).toEqual([
      name,
      expect.not.stringMatching('written'),
    ]);
  }
});

// The attack: a row that refers to a row of another organization.
test('every foreign key refuses what does not exist, and every row of another organization', async () => {
  for (const { table, name, columns, target, targetColumns } of foreignKeys) {
    expect([name, columns]).toEqual([name, expect.arrayContaining(['organization_id'])]);
    const own = columns.filter((column) => column !== 'organization_id');
    const stranger = { [own[0] ?? 'organization_id']: crypto.randomUUID() };
    expect(await insertRow(table, { ...rowOf(table), ...CONCERNED[name], ...stranger })).toBe(name);
    if (own.length === 0) continue;
    const foreign = await rowIn(target ?? '', theirs.id);
    const values = own.map((column) => [column, foreign[targetColumns[columns.indexOf(column)] ?? '']]);
    expect(await insertRow(table, { ...rowOf(table), ...CONCERNED[name], ...Object.fromEntries(values) })).toBe(name);
  }
});
