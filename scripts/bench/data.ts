import { createHash } from 'node:crypto';
import type pg from 'pg';
import { Keyring } from '../../src/domain/keyring.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { addEncryptionKey, placeOfCursorKey } from '../../src/store/sql/secrets.ts';

const ENCRYPTION_KEY_BYTES = Buffer.alloc(32, 'bench');
/** The encryption key in base64, as the environment of a server contains it. */
export const ENCRYPTION_KEY = ENCRYPTION_KEY_BYTES.toString('base64');
export const KEYRING = new Keyring([ENCRYPTION_KEY_BYTES]);

/** The number of organizations with 1,000 rows. One other organization has 1,000,000 rows. */
const SMALL = 100;
/** The number of organizations with 10 rows. No case reads these rows, but they make the indexes as large as real ones. */
const TINY = 10_000;
const FILLED = { database: 'charter', version: 'charter bench data 5' };

export type Organization = { readonly id: string; readonly cursorKey: string; readonly key: string };

export type Data = {
  readonly large: Organization;
  readonly small: readonly [Organization, ...Organization[]];
};

/** Fills the database unless an earlier run has filled it, and issues a new key to every organization. */
export async function prepareData(client: pg.Client, report: (text: string) => void): Promise<Data> {
  if (!(await isFilled(client, FILLED))) {
    report('creating 1,200,000 rows; this takes some minutes, once');
    await fill(client);
  }
  const [large, first, ...others] = await issueKeys(client);
  if (large === undefined || first === undefined || others.length !== SMALL + TINY - 1) {
    throw new Error('The data is not that of this version. Run npm run bench -- --fresh.');
  }
  // The organizations to which an earlier run has written.
  const written = [first, ...others.slice(0, 2)].map(({ id }) => id);
  await client.query('delete from webhook_endpoints');
  await client.query('delete from parent_programs where organization_id = any($1) and name = $2', [written, WRITTEN]);
  await vacuum(client);
  return { large, small: [first, ...others.slice(0, SMALL - 1)] };
}

/** Removes dead row versions, which slow down every look-up of a key. */
export async function vacuum(client: pg.Client): Promise<void> {
  await client.query('vacuum organizations, parent_programs, events, webhook_deliveries, webhook_attempts');
}

/**
 * Returns the key that signs an organization's cursors. It is the same in every run, so that the bench itself can make cursors.
 */
function cursorKeyOf(id: string): Buffer {
  return createHash('sha256').update(`bench ${id}`).digest();
}

function organizationId(i: number): string {
  return `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`;
}

/**
 * Returns whether the database was filled completely. The last step of filling stores the version of the data as a comment on the
 * database.
 */
export async function isFilled(
  client: pg.Client,
  { database, version }: { readonly database: string; readonly version: string },
): Promise<boolean> {
  const text = `select shobj_description(oid, 'pg_database') as mark from pg_database where datname = $1`;
  return (await client.query(text, [database])).rows[0]?.mark === version;
}

/** Creates `count` organizations with one user each. */
export async function fillOrganizations(client: pg.Client, count: number): Promise<void> {
  await addEncryptionKey(client, KEYRING);
  const ids = Array.from({ length: count }, (_, i) => organizationId(i));
  const cursorKeys = ids.map((id) => KEYRING.encrypt(cursorKeyOf(id), placeOfCursorKey(id)));
  await client.query(FILL_ORGANIZATIONS, [ids, cursorKeys]);
  await client.query(FILL_USERS);
}

async function fill(client: pg.Client): Promise<void> {
  // Disables the trigger that prevents deletions from the audit log.
  await client.query('set session_replication_role = replica');
  await client.query('truncate organizations cascade');
  await client.query('reset session_replication_role');
  await fillOrganizations(client, SMALL + TINY + 1);
  // Disables the triggers that write events, because a server does not keep events for three years.
  await client.query('set session_replication_role = replica');
  await client.query(FILL_PROGRAMS, WORDS);
  await client.query('reset session_replication_role');
  // Vacuums now, so that autovacuum does not run during a measurement.
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.query(`comment on database ${FILLED.database} is '${FILLED.version}'`);
}

/**
 * Issues a new key to each organization, because the database contains only the hashes of earlier keys. Returns the
 * organizations; the first is the large one.
 */
export async function issueKeys(client: pg.Client): Promise<Organization[]> {
  await client.query('truncate key_uses');
  await client.query('delete from api_keys');
  const found = await client.query<{ id: string }>('select id from organizations order by id');
  const minted = found.rows.map(({ id }) => ({ id, cursorKey: cursorKeyOf(id).toString('hex'), ...mintKey('live') }));
  await client.query(
    `insert into api_keys (organization_id, id, user_id, name, name_key, key_hash, key_prefix, permissions)
     select id, uuidv7(), id, 'bench', hash, hash, prefix, '{parent_programs:read,parent_programs:write}'
     from unnest($1::uuid[], $2::bytea[], $3::text[]) as minted (id, hash, prefix)`,
    [minted.map(({ id }) => id), minted.map(({ hash }) => hash), minted.map(({ prefix }) => prefix)],
  );
  // Removes the dead row versions of earlier keys.
  await client.query('vacuum analyze api_keys');
  return minted.map(({ id, cursorKey, key }) => ({ id, cursorKey, key }));
}

// The rows that the bench reads. They are as varied in length and content as real rows.

export const RARE_WORD = 'Zanzibar';
export const COMMON_WORD = 'Academy';
/** The name of the programs that a run creates. */
export const WRITTEN = 'Written by the bench';

const KINDS = [COMMON_WORD, 'Camp', 'Workshop', 'Fellowship', 'Residency', 'Course', 'League', 'Programme'];
const SUBJECTS = [
  ...['Robotics', 'Chamber Music', 'Marine Biology', 'Creative Writing', 'Football', 'Astronomy', 'Ceramics'],
  ...['Leadership', 'Ballet', 'Spanish', 'Mathematics', 'Theatre', 'Journalism', 'Sailing', 'Coding', 'Chess'],
];
const PLACES = [
  ...['Leeds', 'Boston', 'Porto', 'Kraków', 'Galway', 'Toronto', 'Wellington', 'Uppsala', 'Lyon', 'São Paulo'],
  ...['Nairobi', 'Kyoto', 'Santa Fe', 'Ljubljana', 'Cape Town', 'Aarhus', 'Valparaíso', 'Chennai'],
];
const SENTENCES = [
  'Mornings are taught in small groups; afternoons are for projects of the participants’ own.',
  'Open to ages 9 to 14, no experience needed.',
  'Runs over six weeks with a showing for families on the last evening.',
  'Meals, materials and insurance are included; a bursary covers up to half of the fee.',
  'Applications close a month before the first day, and places go in the order of arrival.',
];

/** The values of the parameters of FILL_PROGRAMS. */
export const WORDS = [KINDS, SUBJECTS, PLACES, SENTENCES, RARE_WORD];

/**
 * Creates the organizations: the large one, then the 100 small ones, then those with 10 rows. $1 is the ids, $2 the encrypted
 * cursor keys.
 */
const FILL_ORGANIZATIONS = `
  insert into organizations (id, name, cursor_key, created_at)
  select id, 'Bench organization ' || (i - 1), cursor_key, now() - interval '3 years'
  from unnest($1::uuid[], $2::bytea[]) with ordinality as made (id, cursor_key, i)`;

const FILL_USERS = `
  insert into users (organization_id, id, email, name, role)
  select id, id, 'manager-' || id || '@bench.example', 'Bench manager', 'manager' from organizations`;

/** The number of rows after which the contents repeat, so that pages 1 and 20,000 have the same length. */
const PERIOD = 19_999 * 25;

/**
 * Returns SQL for a number from 0 to less than 1. It depends only on the row number and on the position in the SQL, so that all
 * runs create the same rows.
 */
const draw = (_: string, place: number) =>
  `((hashint8(${place} + 10000 * (i % ${PERIOD})::bigint) + 2147483648) / 4294967296.0)`;

/**
 * Returns the SQL statement that creates programs with creation times over three years; one in four was updated later. `size` is
 * SQL for the number of programs of an organization; it can refer to `number`, the number of the organization. `isRare` is SQL
 * for whether the name of a program contains the rare word; it can refer to `i`, the number of the program, and to `size`.
 * `order` is SQL for the order in which the rows are written; the default is one organization after the other.
 */
export function fillPrograms({
  size,
  isRare,
  order = '',
}: {
  readonly size: string;
  readonly isRare: string;
  readonly order?: string;
}): string {
  return `
  insert into parent_programs
    (organization_id, id, name, description, external_id, metadata, created_at, updated_at)
  select
    organization_id,
    uuidv7(created_at - now()),
    case when ${isRare} then $5 else pick($3) end
      || ' ' || pick($2) || ' ' || pick($1) || ' ' || extract(year from created_at) || '-' || lpad(i::text, 7, '0'),
    case when random() < 0.8
      then pick($4) || case when random() < 0.5 then ' ' || pick($4) else '' end
    end,
    case when random() < 0.6 then 'SIS-' || lpad(i::text, 8, '0') end,
    case when random() < 0.75
      then jsonb_build_object('region', pick($3), 'cost_center', 'CC-' || floor(1000 + random() * 9000),
                              'season', extract(quarter from created_at)::text)
      else '{}'
    end,
    created_at,
    case when random() < 0.25 then created_at + random() * (now() - created_at) else created_at end
  from (
    select id as organization_id, i, size,
           now() - interval '3 years' + (i - random()) * (interval '3 years' / size) as created_at
    from (select id, ${size} as size
          from organizations cross join lateral (select right(id::text, 12)::int as number) as numbered) as sizes
    cross join lateral generate_series(1, size) as i
    ${order}
  ) as created`
    .replace(/pick\((\$\d)\)/g, '($1::text[])[1 + floor(random() * cardinality($1::text[]))::int]')
    .replaceAll('random()', draw);
}

/** Fills one organization after the other. One name in 50,000 contains the rare word. */
const FILL_PROGRAMS = fillPrograms({
  size: 'case when number = 0 then 1000000 when number <= 100 then 1000 else 10 end',
  isRare: 'i % 50000 = 7777',
});
