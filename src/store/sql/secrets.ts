import type pg from 'pg';
import { DomainError } from '../../domain/errors.ts';
import { encryptionKeyIdOf, type Keyring, MissingEncryptionKeyError, type SecretPlace } from '../../domain/keyring.ts';
import { SECRET_BYTES } from '../../domain/webhooks/webhook-message.ts';
import { CHUNK_ROWS } from './chunks.ts';
import type { Database } from './database.ts';
import type { Query } from './tenant-tables.ts';

/** A pool, or one client within a transaction. */
interface Queryable {
  query<Row extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<pg.QueryResult<Row>>;
}

export function placeOfTotpSecret({ organizationId, id }: { organizationId: string; id: string }): SecretPlace {
  return { column: 'users.totp_secret', ids: [organizationId, id] };
}

export function placeOfCursorKey(organizationId: string): SecretPlace {
  return { column: 'organizations.cursor_key', ids: [organizationId] };
}

type WebhookEndpointId = { readonly organizationId: string; readonly id: string };

export function placeOfWebhookSecret({ organizationId, id }: WebhookEndpointId): SecretPlace {
  return { column: 'webhook_endpoints.secret', ids: [organizationId, id] };
}

export function placeOfPreviousWebhookSecret({ organizationId, id }: WebhookEndpointId): SecretPlace {
  return { column: 'webhook_endpoints.previous_secret', ids: [organizationId, id] };
}

export function placeOfClientSecret(organizationId: string): SecretPlace {
  return { column: 'sso_connections.client_secret', ids: [organizationId] };
}

/** The advisory lock that lets one process at a time change the encryption key. */
const RETIREMENT_LOCK = 7_240_115;

type SecretTable = {
  readonly table: string;
  readonly column: string;
  /** The columns that identify a row, the organization first. */
  readonly ids: readonly [string, ...string[]];
  /** The length of a secret that a version without encryption stored; 0 if none did. */
  readonly plainBytes: number;
};

const TABLES: readonly SecretTable[] = [
  { table: 'users', column: 'totp_secret', ids: ['organization_id', 'id'], plainBytes: 20 },
  { table: 'organizations', column: 'cursor_key', ids: ['id'], plainBytes: 32 },
  { table: 'webhook_endpoints', column: 'secret', ids: ['organization_id', 'id'], plainBytes: SECRET_BYTES },
  { table: 'webhook_endpoints', column: 'previous_secret', ids: ['organization_id', 'id'], plainBytes: SECRET_BYTES },
  { table: 'sso_connections', column: 'client_secret', ids: ['organization_id'], plainBytes: 0 },
];

/**
 * Encrypts every secret of all organizations with the keyring's current key, in chunks: those that another key has encrypted,
 * and those that a version without encryption stored. Returns how many. A secret that is changed meanwhile is left as it is.
 */
export async function encryptSecrets(sql: Queryable, keyring: Keyring): Promise<number> {
  let encrypted = 0;
  for (const table of TABLES) {
    for (;;) {
      const count = await encryptChunk(sql, keyring, table);
      if (count === 0) break;
      encrypted += count;
    }
  }
  return encrypted;
}

type SecretRow = { readonly ids: string[]; readonly secret: Buffer };

async function encryptChunk(sql: Queryable, keyring: Keyring, secretTable: SecretTable): Promise<number> {
  const { table, column, ids, plainBytes } = secretTable;
  const { rows } = await sql.query<SecretRow>(
    `select array[${ids.join('::text, ')}::text] as ids, ${column} as secret from ${table}
     where ${isOutdated(secretTable)} order by ${ids.join(', ')} limit ${CHUNK_ROWS}`,
    [keyring.currentId],
  );
  const values = rows.map((row) => {
    const place = { column: `${table}.${column}`, ids: row.ids };
    const plain = row.secret.length === plainBytes ? row.secret : keyring.decrypt(row.secret, place);
    return keyring.encrypt(plain, place);
  });
  // Locks the rows in the order of their ids, like every other transaction that locks several of them.
  await sql.query(
    `with changed as (
       select ${ids.map((id) => `t.${id}`).join(', ')}, new.encrypted
       from ${table} t
       join unnest($1::bytea[], $2::bytea[], ${ids.map((_, i) => `$${i + 3}::uuid[]`).join(', ')})
         as new (secret, encrypted, ${ids.map((_, i) => `id_${i}`).join(', ')})
         on ${ids.map((id, i) => `t.${id} = new.id_${i}`).join(' and ')}
       where t.${column} = new.secret
       order by ${ids.map((id) => `t.${id}`).join(', ')}
       for no key update of t)
     update ${table} t set ${column} = changed.encrypted
     from changed where ${ids.map((id) => `t.${id} = changed.${id}`).join(' and ')}`,
    [rows.map(({ secret }) => secret), values, ...ids.map((_, i) => rows.map((row) => row.ids[i]))],
  );
  return rows.length;
}

export const SECRET_COLUMNS: readonly Pick<SecretTable, 'table' | 'column' | 'ids'>[] = TABLES;

/**
 * A row of this table, as JSON of PostgreSQL, with each of its secrets encrypted with the current key of `to`. `from`: the
 * keyrings that may decrypt them.
 */
export function encryptAnew(
  table: string,
  row: string,
  { from, to }: { readonly from: readonly Keyring[]; readonly to: Keyring },
): string {
  const places = TABLES.filter((each) => each.table === table);
  if (places.length === 0) return row;
  const values: Record<string, unknown> = JSON.parse(row);
  return places.reduce((text, { column, ids }) => {
    const shown = values[column];
    if (typeof shown !== 'string') return text;
    const hex = shown.replace('\\x', '');
    const secret = Buffer.from(hex, 'hex');
    const place = { column: `${table}.${column}`, ids: ids.map((id) => String(values[id])) };
    const keyring = from.find((each) => each.has(encryptionKeyIdOf(secret)));
    if (keyring === undefined) throw new MissingEncryptionKeyError(encryptionKeyIdOf(secret), place);
    // The text is changed instead of the parsed row, because numbers may have more digits than JavaScript keeps. A nonce makes
    // each secret unique, so it occurs only once in the text.
    return text.replace(hex, to.encrypt(keyring.decrypt(secret, place), place).toString('hex'));
  }, row);
}

/** The SQL condition that a secret is not encrypted with the key whose id is $1. */
function isOutdated({ column, plainBytes }: SecretTable): string {
  return `(octet_length(${column}) = ${plainBytes} or substring(${column} from 2 for 8) <> decode($1, 'hex'))`;
}

/** The ids of the keys that may encrypt in this database, in hexadecimal. */
export async function listEncryptionKeys(sql: Queryable): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(`select encode(id, 'hex') as id from encryption_keys order by 1`);
  return rows.map(({ id }) => id);
}

/**
 * Which of these keys encrypt a secret. Waits for writes in progress that use one of them. In a transaction, no such write begins
 * until its end.
 */
export async function listUsedKeys(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const given = `select decode(unnest($1::text[]), 'hex')`;
  // A write of a secret holds a share lock of its key until it is committed.
  await sql.query(`select from encryption_keys where id in (${given}) order by id for update`, [ids]);
  const uses = TABLES.map(
    ({ table, column, plainBytes }) =>
      `exists (select from ${table} where substring(${column} from 2 for 8) = k.id and octet_length(${column}) <> ${plainBytes})`,
  );
  const { rows } = await sql.query<{ id: string }>(
    `select encode(k.id, 'hex') as id from (${given} as id) k where ${uses.join(' or ')} order by 1`,
    [ids],
  );
  return rows.map(({ id }) => id);
}

/** Keeps the keyring's current key in the database until the transaction ends. Returns false if it is not there. */
export async function lockEncryptionKey(query: Query, keyring: Keyring): Promise<boolean> {
  const text = `select 1 from encryption_keys where id = decode($1, 'hex') for key share`;
  return (await query(text, [keyring.currentId])).length > 0;
}

/** Adds the keyring's current key to those that may encrypt in this database. */
export async function addEncryptionKey(sql: Queryable, keyring: Keyring): Promise<void> {
  await sql.query(`insert into encryption_keys (id) values (decode($1, 'hex')) on conflict do nothing`, [
    keyring.currentId,
  ]);
}

/**
 * Encrypts every secret with the current key and removes all other keys: from then on the database refuses what a process
 * encrypts with one of them. Returns how many secrets were encrypted. One process at a time; throws a conflict if another one
 * has just removed the current key.
 *
 * A write locks the row of its secret, and then that of its encryption key. This must not wait for a secret while it holds a
 * key, or both could wait for each other. So the keys are removed only while no secret needs them, and otherwise released
 * before the secrets are encrypted.
 */
export async function retireOtherKeys({ pool, keyring }: Database): Promise<number> {
  const client = await pool.connect();
  try {
    await client.query('select pg_advisory_lock($1)', [RETIREMENT_LOCK]);
    if (!(await listEncryptionKeys(client)).includes(keyring.currentId)) {
      throw new DomainError(
        'conflict',
        'Another rotation has just removed the first key of ENCRYPTION_KEY from the database. ' +
          'To use that key, run this command again.',
      );
    }
    let encrypted = 0;
    do encrypted += await encryptSecrets(client, keyring);
    while (!(await removeOtherKeys(client, keyring)));
    return encrypted;
  } finally {
    // Closes the connection, which releases the lock.
    client.release(true);
  }
}

/** Removes all keys but the current one, and returns true, unless they encrypt a secret that was written meanwhile. */
async function removeOtherKeys(sql: Queryable, keyring: Keyring): Promise<boolean> {
  await sql.query('begin');
  // This comes first: a write that uses another key has either been committed before it, or is refused after it.
  await sql.query(`delete from encryption_keys where id <> decode($1, 'hex')`, [keyring.currentId]);
  const outdated = TABLES.map((each) => `exists (select from ${each.table} where ${isOutdated(each)})`).join(' or ');
  const { rows } = await sql.query<{ needed: boolean }>(`select ${outdated} as needed`, [keyring.currentId]);
  const isNeeded = rows[0]?.needed !== false;
  await sql.query(isNeeded ? 'rollback' : 'commit');
  return !isNeeded;
}
