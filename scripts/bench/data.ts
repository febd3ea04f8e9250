import { createHash } from 'node:crypto';
import type pg from 'pg';
import { mintKey } from '../../src/domain/api-key.ts';
import { Keyring } from '../../src/domain/keyring.ts';
import { addEncryptionKey, placeOfCursorKey } from '../../src/store/sql/secrets.ts';
import { FILL_ORGANIZATIONS, FILL_PROGRAMS, FILL_USERS, WORDS, WRITTEN } from './fill.ts';

const ENCRYPTION_KEY_BYTES = Buffer.alloc(32, 'bench');
/** For the environment of the servers that are measured. */
export const ENCRYPTION_KEY = ENCRYPTION_KEY_BYTES.toString('base64');
export const KEYRING = new Keyring([ENCRYPTION_KEY_BYTES]);

/** Organizations of 1,000 rows; one more has 1,000,000. */
const SMALL = 100;
/** Organizations of 10 rows, which no case reads. With them, the indexes have a realistic size. */
const TINY = 10_000;
const VERSION = 'charter bench data 5';

export type Organization = { readonly id: string; readonly cursorKey: string; readonly key: string };

export type Data = {
  /** 1,000,000 rows. */
  readonly large: Organization;
  /** 1,000 rows each. */
  readonly small: readonly [Organization, ...Organization[]];
};

/** Fills the database unless an earlier run has done so, and gives every organization a key. */
export async function prepareData(client: pg.Client, report: (text: string) => void): Promise<Data> {
  if (!(await isFilled(client))) {
    report('creating 1,200,000 rows; this takes some minutes, once');
    await fill(client);
  }
  const [large, first, ...others] = await issueKeys(client);
  if (large === undefined || first === undefined || others.length !== SMALL + TINY - 1) {
    throw new Error('The data is not that of this version. Run npm run bench -- --fresh.');
  }
  // Those that an earlier run has written to.
  const written = [first, ...others.slice(0, 2)].map(({ id }) => id);
  await client.query('delete from webhook_endpoints');
  await client.query('delete from parent_programs where organization_id = any($1) and name = $2', [written, WRITTEN]);
  await vacuum(client);
  return { large, small: [first, ...others.slice(0, SMALL - 1)] };
}

/** Removes the dead row versions that writes leave, because they slow down each look-up of a key. */
export async function vacuum(client: pg.Client): Promise<void> {
  await client.query('vacuum organizations, parent_programs, events, webhook_deliveries, webhook_attempts');
}

/** Not a secret: it is the same in every run, so that a run can make cursors of its own. */
function cursorKeyOf(id: string): Buffer {
  return createHash('sha256').update(`bench ${id}`).digest();
}

function organizationId(i: number): string {
  return `00000000-0000-7000-8000-${String(i).padStart(12, '0')}`;
}

/** The last step of the fill sets a comment on the database, so an interrupted fill does not count. */
async function isFilled(client: pg.Client): Promise<boolean> {
  const mark = `select shobj_description(oid, 'pg_database') as mark from pg_database where datname = current_database()`;
  return (await client.query(mark)).rows[0]?.mark === VERSION;
}

/** So many organizations, with a user each. */
export async function fillOrganizations(client: pg.Client, count: number): Promise<void> {
  await addEncryptionKey(client, KEYRING);
  const ids = Array.from({ length: count }, (_, i) => organizationId(i));
  const cursorKeys = ids.map((id) => KEYRING.encrypt(cursorKeyOf(id), placeOfCursorKey(id)));
  await client.query(FILL_ORGANIZATIONS, [ids, cursorKeys]);
  await client.query(FILL_USERS);
}

async function fill(client: pg.Client): Promise<void> {
  // A trigger prevents the deletion of the audit log.
  await client.query('set session_replication_role = replica');
  await client.query('truncate organizations cascade');
  await client.query('reset session_replication_role');
  await fillOrganizations(client, SMALL + TINY + 1);
  // Silences the triggers that write events: those of three years would not be kept.
  await client.query('set session_replication_role = replica');
  await client.query(FILL_PROGRAMS, WORDS);
  await client.query('reset session_replication_role');
  // An automatic vacuum would run in the middle of a measurement.
  await client.query('vacuum analyze');
  await client.query('checkpoint');
  await client.query(`comment on database charter is '${VERSION}'`);
}

/** Each run needs new keys, because only their hashes are stored. The large organization is the first. */
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
  // Removes the dead rows of the keys of earlier runs.
  await client.query('vacuum analyze api_keys');
  return minted.map(({ id, cursorKey, key }) => ({ id, cursorKey, key }));
}
