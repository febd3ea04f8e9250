// Tables can be partitioned by organization, and an organization can be moved, exported or erased as a whole.
import { useSharedDatabase } from '../support/postgres/store.ts';

const { db } = await useSharedDatabase();

async function namesIn(text: string): Promise<string[]> {
  return (await db.pool.query<{ name: string }>(text)).rows.map(({ name }) => name).toSorted();
}

const TABLES = `
  select c.oid, c.relname from pg_class c
  where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and c.relname <> '_prisma_migrations'`;
/** Returns SQL for the number of the column organization_id in the table `id`. */
const columnOf = (id: string) =>
  `(select attnum from pg_attribute where attrelid = ${id} and attname = 'organization_id' and not attisdropped)`;
const TENANT_TABLES = `select * from (${TABLES}) c where ${columnOf('c.oid')} is not null`;

/** Indexes that are unique across all organizations, because look-ups by their values find the organization. */
const GLOBALLY_UNIQUE = [
  'access_links_token_hash_key',
  'api_keys_key_hash_key',
  'passkeys_credential_id_key',
  'sessions_token_hash_key',
  'sso_domains_verified_key',
  'sso_sign_ins_token_hash_key',
  'users_accepted_email_key',
];
const WITHOUT_ORGANIZATION = [
  'encryption_keys',
  'operator_actions',
  'organizations',
  'passkey_challenges',
  'rate_limits',
  'sign_in_failures',
];

test('the primary key of every table with an organization_id begins with it', async () => {
  const others = await namesIn(`
    select t.relname as name from (${TENANT_TABLES}) t
    where not exists (
      select from pg_constraint where conrelid = t.oid and contype = 'p' and conkey[1] = ${columnOf('t.oid')})`);
  expect(others).toEqual([]);
  expect(await namesIn(`select relname as name from (${TENANT_TABLES}) t`)).toContain('parent_programs');
});

test('every unique index of such a table includes organization_id, apart from those that find the organization', async () => {
  const others = await namesIn(`
    select i.indexrelid::regclass::text as name from pg_index i join (${TENANT_TABLES}) t on t.oid = i.indrelid
    where i.indisunique and not (${columnOf('t.oid')} = any(i.indkey))`);
  expect(others).toEqual(GLOBALLY_UNIQUE);
});

test('every foreign key of such a table refers from organization_id to that of the other table, or to an organization', async () => {
  const others = await namesIn(`
    select k.conname as name from pg_constraint k join (${TENANT_TABLES}) t on t.oid = k.conrelid
    where k.contype = 'f' and not exists (
      select from unnest(k.conkey, k.confkey) as pair (own, other)
      join pg_attribute a on a.attrelid = k.confrelid and a.attnum = pair.other
      where pair.own = ${columnOf('t.oid')}
        and a.attname = case when k.confrelid = 'organizations'::regclass then 'id' else 'organization_id' end)`);
  expect(others).toEqual([]);
});

test('no other table refers to rows of an organization, and no column takes its values from a sequence', async () => {
  const without = `select c.* from (${TABLES}) c where ${columnOf('c.oid')} is null`;
  expect(await namesIn(`select relname as name from (${without}) c`)).toEqual(WITHOUT_ORGANIZATION);
  expect(
    await namesIn(
      `select conname as name from pg_constraint k join (${without}) c on c.oid = k.conrelid where contype = 'f'`,
    ),
  ).toEqual([]);
  expect(
    await namesIn(`select relname as name from pg_class where relkind = 'S' and relnamespace = 'public'::regnamespace`),
  ).toEqual([]);
});
