import { randomBytes, randomUUID } from 'node:crypto';
import { access, mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { StartUpError } from '../../src/domain/errors.ts';
import { Keyring, mintEncryptionKey } from '../../src/domain/keyring.ts';
import { secretText } from '../../src/domain/webhooks/webhook-message.ts';
import { type Connected, connect, type DatabaseChoice } from '../../src/postgres/connect.ts';
import { createEncryptionKeyFile } from '../../src/postgres/encryption-key-file.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { readMigrations } from '../../src/postgres/migrations.ts';
import { createOrganization, rotateEncryptionKey } from '../../src/service/operator/organizations.ts';
import { orThrow } from '../../src/service/outcome.ts';
import { rotateEndpointSecret } from '../../src/service/webhooks/endpoints.ts';
import {
  placeOfCursorKey,
  placeOfPreviousWebhookSecret,
  placeOfTotpSecret,
  placeOfWebhookSecret,
} from '../../src/store/sql/secrets.ts';
import { createActor, times } from '../support/data/actors.ts';
import { addEndpoint } from '../support/data/webhooks.ts';
import { untilWaiting, withClient, withScratchDatabase } from '../support/postgres/postgres.ts';

const ENCRYPTING = '20261122204500_encrypt_secrets';
const [OLD_KEY, NEW_KEY] = [randomBytes(32), randomBytes(32)];
const OLD = new Keyring([OLD_KEY]);
const NEW = new Keyring([NEW_KEY]);
const BOTH = new Keyring([NEW_KEY, OLD_KEY]);
const ADA = { email: 'ada@example.test', name: 'Ada', role: 'administrator', passwordHash: null } as const;

let dataDir: string;
beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'charter-keys-'));
});
afterEach(() => rm(dataDir, { recursive: true, force: true }));

const file = () => join(dataDir, 'encryption-key');

/** Connects to the database as a server does when it starts. */
function start(
  databaseUrl: string,
  keyring?: Keyring,
  options: Pick<DatabaseChoice, 'replacesUnusedKeys'> = {},
): Promise<Connected> {
  const choice = { databaseUrl, databaseDirectUrl: undefined, databasePoolSize: 2, acceptsNewerDatabase: false };
  return connect({ ...choice, dataDir, keyring, ...options }, () => {});
}

async function using<T>(connecting: Promise<Connected>, work: (connected: Connected) => Promise<T>): Promise<T> {
  const connected = await connecting;
  try {
    return await work(connected);
  } finally {
    await connected.leave();
  }
}

const nothing = async () => {};

/** Creates a database without an encryption key, as the migrations of a first start leave it. */
async function withKeylessDatabase(work: (url: string) => Promise<void>): Promise<void> {
  await withScratchDatabase(async (url) => {
    await withClient(url, (client) => client.query('delete from encryption_keys'));
    await work(url);
  });
}

async function refusalOf(connecting: Promise<Connected>): Promise<string> {
  const error = await using(connecting, nothing).catch((thrown: unknown) => thrown);
  if (!(error instanceof StartUpError)) throw new Error('There was no StartUpError.', { cause: error });
  const text = `${error.message}\n${error.remedy}`;
  for (const key of [OLD_KEY, NEW_KEY]) {
    for (const form of ['base64', 'base64url', 'hex'] as const) expect(text).not.toContain(key.toString(form));
  }
  return text;
}

type Row = { id: string; organization_id: string; totp_secret: Buffer; cursor_key: Buffer };

const SECRETS = `
  select u.id, u.organization_id, u.totp_secret, o.cursor_key
  from users u join organizations o on o.id = u.organization_id order by u.id`;

const SEED = `
  insert into organizations (id, name, cursor_key)
    select gen_random_uuid(), 'Old ' || i, sha256(('cursor ' || i)::bytea) from generate_series(1, 2500) i;
  insert into users (organization_id, id, email, name, role, totp_secret)
    select id, gen_random_uuid(), id || '@example.test', 'Old', 'member', substring(cursor_key from 1 for 20) from organizations`;

const KEYS = ['Nightly sync', 'NIGHTLY sync', 'night\u200bly sync', 'Reports', 'Nightly sync'];

/** Fills a database as the version before encryption did, with 2,500 organizations that each have a second factor. */
async function makeOldDatabase(url: string): Promise<Row[]> {
  const migrations = await readMigrations();
  await migrate(
    url,
    migrations.slice(
      0,
      migrations.findIndex(({ name }) => name === ENCRYPTING),
    ),
  );
  return withClient(url, async (client) => {
    await client.query(SEED);
    const { rows } = await client.query<Row>(SECRETS);
    for (const [i, name] of KEYS.entries()) {
      await client.query(
        `insert into api_keys (organization_id, id, user_id, name, key_hash, key_prefix, permissions, created_at, revoked_at)
         values ($1, $2, $3, $4, sha256($2::uuid::text::bytea), 'charter_live_Abcd', '{}', now() + $5 * interval '1 second', $6)`,
        [rows[0]?.organization_id, randomUUID(), rows[0]?.id, name, i, i === 4 ? new Date() : null],
      );
    }
    return rows;
  });
}

test('the secrets of an earlier version are encrypted at the start, and stay the same', async () => {
  await withScratchDatabase(async (url) => {
    const before = await makeOldDatabase(url);
    await Promise.all(Array.from({ length: 3 }, () => using(start(url, OLD), nothing)));
    const after = (await withClient(url, (client) => client.query<Row>(SECRETS))).rows;
    expect(after).toHaveLength(2500);
    for (const [i, { id, organization_id, totp_secret, cursor_key }] of after.entries()) {
      const totpSecret = OLD.decrypt(totp_secret, placeOfTotpSecret({ organizationId: organization_id, id }));
      // Cursors are signed with this key. It stays the same so that a client in the middle of a list can continue.
      const cursorKey = OLD.decrypt(cursor_key, placeOfCursorKey(organization_id));
      expect([totpSecret, cursorKey]).toEqual([before[i]?.totp_secret, before[i]?.cursor_key]);
    }
    // The constraint for permissions may be unvalidated, because a new resource extends the constraint without reading all keys.
    const open = `select conname from pg_constraint where not convalidated and conname <> 'api_keys_permissions_check'`;
    expect((await withClient(url, (client) => client.query(open))).rows).toEqual([]);
  }, 'empty');
});

test('current keys whose names look alike do not stop the start, keep their names, and get no further one', async () => {
  await withScratchDatabase(async (url) => {
    await makeOldDatabase(url);
    await using(start(url, OLD), async ({ db }) => {
      const keys = await db.prisma.apiKey.findMany({ orderBy: { createdAt: 'asc' } });
      expect(keys.map(({ name }) => name)).toEqual(KEYS);
      const forms = keys.map(({ nameKey }) => Buffer.from(nameKey ?? []).toString('hex'));
      // Of the active keys that share a normalized name, only the oldest gets the name. The revoked key gets the name, too,
      // because a name is free after a revocation.
      expect(forms[4]).toBe(forms[0]);
      expect(new Set(forms).size).toBe(4);
      const { organizationId = '', userId = '', nameKey = null } = keys[0] ?? {};
      const key = { organizationId, userId, nameKey, name: 'nightly SYNC', id: randomUUID() };
      const more = { keyHash: randomBytes(32), keyPrefix: 'charter_live_Abcd', permissions: [] };
      await expect(db.prisma.apiKey.create({ data: { ...key, ...more } })).rejects.toMatchObject({ code: 'P2002' });
    });
  }, 'empty');
});

test('without ENCRYPTION_KEY, processes that start at once share a new key in a file that only its owner can read', async () => {
  await withScratchDatabase(async (url) => {
    const keyrings = await times(5, () => using(start(url), async ({ db }) => db.keyring.currentId));
    expect(new Set(keyrings).size).toBe(1);
    expect(await readdir(dataDir)).toEqual(['encryption-key']);
    expect((await stat(file())).mode & 0o777).toBe(0o600);
    expect(await readFile(file(), 'utf8')).toMatch(/^[A-Za-z0-9+/]{43}=\n$/);
    expect(await using(start(url), async ({ db }) => db.keyring.currentId)).toBe(keyrings[0]);
  }, 'empty');
});

// Containers that share the folder may all have the process id 1.
test('starts with the same process id share a new key', async () => {
  for (let i = 0; i < 50; i += 1) {
    const folder = join(dataDir, String(i));
    const keyrings = await times(5, () => createEncryptionKeyFile(folder));
    expect(new Set(keyrings.map(({ currentId }) => currentId)).size).toBe(1);
    expect(await readdir(folder)).toEqual(['encryption-key']);
  }
});

test('a lost key file is reported, and no other key takes its place', async () => {
  await withKeylessDatabase(async (url) => {
    await using(start(url), nothing);
    await rm(file());
    expect(await refusalOf(start(url))).toMatch(/is missing: there is no .*encryption-key\.\nRestore this file/);
    await expect(access(file())).rejects.toMatchObject({ code: 'ENOENT' });
    await writeFile(file(), mintEncryptionKey(), { mode: 0o600 });
    expect(await refusalOf(start(url))).toMatch(
      /encryption-key lacks the key of this database \(key id [0-9a-f]{16}\)\.\nIf its key is the wrong one/,
    );
  });
});

test.each([
  [
    'others can read',
    mintEncryptionKey(),
    0o640,
    /Other users of this machine can read .*\nAllow only its owner: chmod 600/,
  ],
  ['holds something else', 'secret', 0o600, /does not contain an encryption key\.\nRestore it/],
])('a key file that %s is refused with the remedy', async (_, text, mode, refusal) => {
  await withKeylessDatabase(async (url) => {
    await writeFile(file(), text, { mode });
    expect(await refusalOf(start(url))).toMatch(refusal);
  });
});

test('of processes that start at once with different keys, one succeeds', async () => {
  await withKeylessDatabase(async (url) => {
    const started = await Promise.allSettled([OLD, NEW].map((keyring) => using(start(url, keyring), nothing)));
    expect(started.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  });
});

test('a key can be changed: with both keys everything can be read, and after the rotation the old one is not needed', async () => {
  await withKeylessDatabase(async (url) => {
    const old = await start(url, OLD);
    const scope = await createOrganization(old.db, { name: 'Old', users: [ADA] });
    const { organizationId } = scope;
    const { id } = await old.db.prisma.user.findFirstOrThrow();
    const place = placeOfTotpSecret({ organizationId, id });
    const setSecret = (keyring: Keyring) =>
      old.db.prisma.user.updateMany({ data: { totpSecret: keyring.encrypt(Buffer.alloc(20, 'totp'), place) } });
    const secretBy = async (keyring: Keyring) => {
      const { totpSecret } = await old.db.prisma.user.findFirstOrThrow();
      return keyring.decrypt(totpSecret ?? Buffer.alloc(0), place);
    };
    await setSecret(OLD);
    const cursorKey = OLD.decrypt(
      (await old.db.prisma.organization.findFirstOrThrow()).cursorKey,
      placeOfCursorKey(organizationId),
    );

    expect(await refusalOf(start(url, NEW))).toMatch(/^ENCRYPTION_KEY lacks a key/);
    await using(start(url, BOTH), async ({ db }) => {
      expect(await secretBy(BOTH)).toEqual(Buffer.alloc(20, 'totp'));
      await setSecret(BOTH);
      // From now on, a process without the new key could not read everything, so it is refused.
      expect(await refusalOf(start(url, OLD))).toMatch(/^ENCRYPTION_KEY lacks a key/);
      await setSecret(OLD);
      expect(await rotateEncryptionKey(db)).toBe(2);
      expect(await rotateEncryptionKey(db)).toBe(0);
    });
    await using(start(url, NEW), async ({ db }) => {
      expect(await secretBy(NEW)).toEqual(Buffer.alloc(20, 'totp'));
      const organization = await db.prisma.organization.findFirstOrThrow();
      expect(NEW.decrypt(organization.cursorKey, placeOfCursorKey(organizationId))).toEqual(cursorKey);
    });
    // A process still runs with the old key only. What it encrypts would be lost, so its writes are refused.
    await expect(setSecret(OLD)).rejects.toThrow(/is not among those of this database/);
    await expect(createOrganization(old.db, { name: 'Late', users: [] })).rejects.toThrow();
    expect(await secretBy(NEW)).toEqual(Buffer.alloc(20, 'totp'));
    expect(await refusalOf(start(url, OLD))).toMatch(/^ENCRYPTION_KEY lacks a key/);
    await old.leave();
  });
});

/** Rotates the key as `npm run admin -- rotate-encryption-key` does. */
function rotate(url: string, keyring?: Keyring): Promise<number> {
  return using(start(url, keyring, { replacesUnusedKeys: true }), ({ db }) => rotateEncryptionKey(db));
}

async function keyIds(url: string): Promise<string[]> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ id: string }>(`select encode(id, 'hex') as id from encryption_keys order by 1`),
  );
  return rows.map(({ id }) => id);
}

// The mistake: an operator begins to change the key, gives up, and throws the new key away.
test('a lost key with which nothing is encrypted is not needed, and a rotation forgets it', async () => {
  await withKeylessDatabase(async (url) => {
    await using(start(url, OLD), ({ db }) => createOrganization(db, { name: 'Old', users: [ADA] }));
    await using(start(url, BOTH), nothing);
    await using(start(url, OLD), nothing);
    // A process with both keys may still run, and may encrypt with the new key.
    expect(await keyIds(url)).toEqual([OLD.currentId, NEW.currentId].sort());
    expect(await rotate(url, OLD)).toBe(0);
    expect(await keyIds(url)).toEqual([OLD.currentId]);
    await using(start(url, OLD), nothing);
  });
});

test('a lost key of a database without secrets is replaced by a rotation, and by nothing else', async () => {
  await withKeylessDatabase(async (url) => {
    await using(start(url), nothing);
    await rm(file());
    expect(await refusalOf(start(url))).toMatch(/Nothing is encrypted with the missing key\. If it is lost, run "npm/);
    expect(await refusalOf(start(url, NEW))).toMatch(/Nothing is encrypted with the missing key\. If it is lost, run/);
    expect(await rotate(url)).toBe(0);
    const keyring = await using(start(url), async ({ db }) => db.keyring.currentId);
    expect(await keyIds(url)).toEqual([keyring]);
    expect(await rotate(url, NEW)).toBe(0);
    expect(await keyIds(url)).toEqual([NEW.currentId]);
  });
});

test('a lost key of secrets is forgotten by no rotation, and the message names the right key first', async () => {
  await withKeylessDatabase(async (url) => {
    await using(start(url, OLD), ({ db }) => createOrganization(db, { name: 'Old', users: [ADA] }));
    for (const { keyring, ...options } of [
      { keyring: NEW, replacesUnusedKeys: false },
      { keyring: NEW, replacesUnusedKeys: true },
      { keyring: undefined, replacesUnusedKeys: true },
    ]) {
      const refusal = await refusalOf(start(url, keyring, options));
      expect(refusal).not.toContain('Nothing is encrypted');
      expect(refusal).toMatch(/\n(If its key is the wrong one, replace it with the right one\.|Restore)/);
    }
    expect(await keyIds(url)).toEqual([OLD.currentId]);
  });
});

// The race: a process that has the new key is writing a secret while a process that lacks the key starts.
test('a start waits for a write with a key that it lacks, and is refused', async () => {
  await withKeylessDatabase(async (url) => {
    await using(start(url, OLD), ({ db }) => createOrganization(db, { name: 'Old', users: [ADA] }));
    await using(start(url, BOTH), async ({ db }) => {
      const user = await db.prisma.user.findFirstOrThrow();
      const secret = BOTH.encrypt(Buffer.alloc(20, 'totp'), placeOfTotpSecret(user));
      await withClient(url, async (writer) => {
        await writer.query('begin');
        await writer.query('update users set totp_secret = $1', [secret]);
        const refusal = refusalOf(start(url, OLD));
        await untilWaiting(db.pool, 1);
        await writer.query('commit');
        expect(await refusal).toMatch(/^ENCRYPTION_KEY lacks a key/);
      });
    });
  });
});

test('a rotation of the encryption key covers both secrets of a webhook endpoint', async () => {
  await withKeylessDatabase(async (url) => {
    const old = await start(url, OLD);
    const scope = await createOrganization(old.db, { name: 'Old', users: [] });
    const actor = await createActor(old.db, scope, 'administrator');
    const first = await addEndpoint(old.db, actor);
    const second = orThrow(await rotateEndpointSecret(old.db, actor, { endpointId: first.id }));
    await using(start(url, BOTH), async ({ db }) => {
      expect(await rotateEncryptionKey(db)).toBe(3);
      expect(await rotateEncryptionKey(db)).toBe(0);
    });
    await using(start(url, NEW), async ({ db }) => {
      const row = await db.prisma.webhookEndpoint.findFirstOrThrow();
      const place = { organizationId: scope.organizationId, id: first.id };
      const secrets = [
        NEW.decrypt(row.secret, placeOfWebhookSecret(place)),
        NEW.decrypt(row.previousSecret ?? Buffer.alloc(0), placeOfPreviousWebhookSecret(place)),
      ];
      expect(secrets.map(secretText)).toEqual([second.secret, first.secret]);
    });
    // A process that still runs with the old key only must not store a secret that nobody could read.
    await expect(addEndpoint(old.db, actor)).rejects.toThrow();
    await old.leave();
  });
});
