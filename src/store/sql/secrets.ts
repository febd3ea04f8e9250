import type pg from 'pg';
import { DomainError } from '../../domain/errors.ts';
import { encryptionKeyIdOf, type Keyring, MissingEncryptionKeyError, type SecretPlace } from '../../domain/keyring.ts';
import { SECRET_BYTES } from '../../domain/webhooks/webhook-message.ts';
import { CHUNK_ROWS } from './chunks.ts';
import type { Database } from './database.ts';
import type { Query } from './tenant-tables.ts';

/** A connection pool, or a client within a transaction. */
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

/** The advisory lock that only one process can hold, so that processes change the encryption key one after the other. */
const RETIREMENT_LOCK = 7_240_115;

type SecretTable = {
  readonly table: string;
  readonly column: string;
  /** The columns that identify a row; the organization comes first. */
  readonly ids: readonly [string, ...string[]];
  /** The length of a secret that a version without encryption stored; 0 if no such version stored this secret. */
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
 * Encrypts all secrets of all organizations with the keyring's current key, in chunks: secrets that are encrypted with another
 * key, and secrets that a version without encryption stored. Returns the number of encrypted secrets. A secret that changes in
 * the meantime is left unchanged.
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

/**
 * Decrypts a secret of each kind, and returns how many kinds of secrets there are. Throws a MissingEncryptionKeyError if the
 * keyring lacks the key of one, and an Error if one is damaged.
 */
export async function openSecrets(sql: Queryable, keyring: Keyring): Promise<number> {
  let opened = 0;
  for (const { table, column, ids, plainBytes } of TABLES) {
    const { rows } = await sql.query<SecretRow>(
      `select array[${ids.join('::text, ')}::text] as ids, ${column} as secret from ${table}
       where octet_length(${column}) <> ${plainBytes} limit 1`,
    );
    for (const row of rows) keyring.decrypt(row.secret, { column: `${table}.${column}`, ids: row.ids });
    opened += rows.length;
  }
  return opened;
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
  // Locks the rows in the order of their ids, like every other transaction that locks several of these rows.
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
 * Encrypts all secrets in a row of this table with the current key of `to`, and returns the row. The row is JSON as PostgreSQL
 * writes it. `from` are the keyrings that may decrypt the secrets.
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
    // The text is changed instead of the parsed row, because numbers may have more digits than JavaScript can represent. Each
    // secret occurs only once in the text, because its nonce makes it unique.
    return text.replace(hex, to.encrypt(keyring.decrypt(secret, place), place).toString('hex'));
  }, row);
}

/** Returns the SQL condition that a secret is not encrypted with the key whose id is $1. */
function isOutdated({ column, plainBytes }: SecretTable): string {
  return `(octet_length(${column}) = ${plainBytes} or substring(${column} from 2 for 8) <> decode($1, 'hex'))`;
}

/** Lists the ids, in hexadecimal, of the keys that may encrypt secrets in this database. */
export async function listEncryptionKeys(sql: Queryable): Promise<string[]> {
  const { rows } = await sql.query<{ id: string }>(`select encode(id, 'hex') as id from encryption_keys order by 1`);
  return rows.map(({ id }) => id);
}

/**
 * Returns the ids of the given keys that encrypt at least one secret. Waits for writes in progress that use one of the given
 * keys. In a transaction, no such write can begin until the transaction ends.
 */
export async function listUsedKeys(sql: Queryable, ids: readonly string[]): Promise<string[]> {
  const given = `select decode(unnest($1::text[]), 'hex')`;
  // A transaction that writes a secret holds a share lock on the secret's key until the commit.
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

/**
 * Prevents the removal of the keyring's current key from the database until the transaction ends. Returns `false` if the database
 * does not have the key.
 */
export async function lockEncryptionKey(query: Query, keyring: Keyring): Promise<boolean> {
  const text = `select 1 from encryption_keys where id = decode($1, 'hex') for key share`;
  return (await query(text, [keyring.currentId])).length > 0;
}

/** Adds the keyring's current key to the keys that may encrypt secrets in this database. */
export async function addEncryptionKey(sql: Queryable, keyring: Keyring): Promise<void> {
  await sql.query(`insert into encryption_keys (id) values (decode($1, 'hex')) on conflict do nothing`, [
    keyring.currentId,
  ]);
}

/**
 * Encrypts all secrets with the current key and removes all other keys, so that the database then refuses secrets that a process
 * encrypts with another key. Returns the number of encrypted secrets. Only one process at a time can do this; throws a conflict
 * if another process has just removed the current key.
 *
 * A write locks the row of its secret first, and then the row of its encryption key. To avoid a deadlock, this function must not
 * wait for a secret while it holds a key. So it removes the keys only while no secret needs them, and otherwise releases them
 * before it encrypts the secrets.
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
    // This closes the connection, which releases the lock.
    client.release(true);
  }
}

/**
 * Removes all keys except the current one. Returns `false`, and removes no key, if another key encrypts a secret that was written
 * in the meantime.
 */
async function removeOtherKeys(sql: Queryable, keyring: Keyring): Promise<boolean> {
  await sql.query('begin');
  // The keys are deleted first, so that a write with another key has either been committed before, or is refused afterwards.
  await sql.query(`delete from encryption_keys where id <> decode($1, 'hex')`, [keyring.currentId]);
  const outdated = TABLES.map((each) => `exists (select from ${each.table} where ${isOutdated(each)})`).join(' or ');
  const { rows } = await sql.query<{ needed: boolean }>(`select ${outdated} as needed`, [keyring.currentId]);
  const isNeeded = rows[0]?.needed !== false;
  await sql.query(isNeeded ? 'rollback' : 'commit');
  return !isNeeded;
}
