import { v7 as newId } from 'uuid';
import { mintKey } from '../../../src/domain/keys/api-key.ts';
import type { OrganizationScope } from '../../../src/domain/organizations/organization-scope.ts';
import { PERMISSIONS, type Permission, type Role } from '../../../src/domain/people/role.ts';
import { insertApiKey } from '../../../src/store/keys/api-keys.ts';
import type { Checked, Writer } from '../../../src/store/resources/key-of-write.ts';
import { type Database, openDatabase } from '../../../src/store/sql/database.ts';
import { createActor, createScope } from '../data/actors.ts';
import { createScratchDatabase, KEYRING } from './postgres.ts';
import { watchStatements } from './watch-statements.ts';

export type TestDatabase = { readonly db: Database; readonly url: string; close(): Promise<void> } & AsyncDisposable;

/** Opens a new database for the tests of a file, and closes the database after them. */
export async function useDatabase(): Promise<TestDatabase> {
  const database = await openTestDatabase();
  afterAll(() => database.close());
  return database;
}

/**
 * How long a transaction may wait for a connection. On a busy machine, dozens of concurrent transactions can take longer than the
 * default.
 */
const CONNECT_SECONDS = 60;

let shared: Promise<TestDatabase> | undefined;

/**
 * Returns a database for all files that this process runs one after the other, because a new database costs as much as hundreds
 * of statements. It contains organizations of other files, so tests of all organizations, of plans or of the schema cannot use
 * it.
 */
export function useSharedDatabase(): Promise<TestDatabase> {
  shared ??= openTestDatabase();
  return shared;
}

/** Creates a database and opens it as the server does. The caller closes the database. */
export async function openTestDatabase(): Promise<TestDatabase> {
  const scratch = await createScratchDatabase();
  const db = watchStatements(connectTo(scratch.url, 10));
  const close = async () => {
    await db.close();
    await scratch.drop();
  };
  return { db, url: scratch.url, close, [Symbol.asyncDispose]: close };
}

/** Opens another pool of connections to a test database. Its statements are not watched. */
export function connectTo(url: string, poolSize = 2): Database & AsyncDisposable {
  const options = { connectSeconds: CONNECT_SECONDS, onIdleError: () => {} };
  const db = openDatabase({ url, keyring: KEYRING, poolSize, ...options });
  return { ...db, [Symbol.asyncDispose]: db.close };
}

export type Tenant = { readonly scope: OrganizationScope; readonly userId: string; readonly email: string };

/** Creates an organization with one user. */
export async function createTenant(db: Database, role: Role = 'administrator'): Promise<Tenant> {
  return createActor(db, await createScope(db), role, 'Test');
}

/** Inserts the row of a key directly, with the given id and times. */
export async function createKeyRow(
  { prisma }: Database,
  { scope, userId }: Tenant,
  {
    id = newId(),
    name = id,
    expiresAt = null,
    permissions = ['parent_programs:read'],
  }: { id?: string; name?: string; expiresAt?: Date | null; permissions?: Permission[] } = {},
): Promise<{ id: string; key: string; hash: Buffer }> {
  const { key, hash, prefix } = mintKey('live');
  await insertApiKey(prisma, scope, {
    id,
    userId,
    name,
    expiresAt,
    createdByUserId: null,
    createdAt: new Date(),
    permissions,
    keyHash: Uint8Array.from(hash),
    prefix,
  });
  return { id, key, hash };
}

/** Creates a key that may write, and returns it as the writer of a change. */
export async function getWriter(db: Database, tenant: Tenant): Promise<Writer> {
  const { id } = await createKeyRow(db, tenant, { permissions: [...PERMISSIONS] });
  return { keyId: id, permission: 'parent_programs:write', address: null };
}

/** Returns the result of a write. Throws if its key was refused. */
export function requireAccepted<T>(checked: Checked<T>): T {
  if (checked.kind === 'refused') throw new Error('The key of the write was refused.');
  return checked.value;
}
