// Demonstration data: an organization with a user of each role, and a second organization that shows the isolation. The data are
// not for production. They are added only to a database without organizations.
import { v7 as newId } from 'uuid';
import type { OperatorInScope } from '../src/domain/audit/actor.ts';
import type { Keyring } from '../src/domain/keyring.ts';
import type { Environment } from '../src/domain/keys/api-key.ts';
import { endOf, MAX_ACTIVE_KEYS } from '../src/domain/keys/api-key.ts';
import { OrganizationScope } from '../src/domain/organizations/organization-scope.ts';
import { PERMISSIONS } from '../src/domain/people/role.ts';
import { DAY_MS } from '../src/domain/time.ts';
import { issueKey } from '../src/service/keys/issue-key.ts';
import { revokeKey } from '../src/service/keys/revoke-key.ts';
import { orThrow } from '../src/service/outcome.ts';
import { hashPassword } from '../src/service/sign-in/password.ts';
import { listCurrentKeys } from '../src/store/keys/api-keys.ts';
import { insertOrganization } from '../src/store/organizations/organizations.ts';
import { insertUser } from '../src/store/people/users.ts';
import { type Database, type Transaction, transaction } from '../src/store/sql/database.ts';
import { isUniqueViolation } from '../src/store/sql/database-errors.ts';
import { listOrganizations, listUsersByEmail } from '../src/store/unscoped/operator.ts';
import {
  type DemonstrationProgram,
  demonstrationPrograms,
  ORGANIZATION,
  OTHER_ORGANIZATION,
  OTHER_USERS,
  otherPrograms,
  SHOWN_EVENT_ID,
  SHOWN_PROGRAM_IDS,
  USERS,
} from './demonstration-data.ts';
import { seedKeys } from './demonstration-keys.ts';

/** The password of all demonstration users. It is not a secret. */
export const DEMONSTRATION_PASSWORD = 'charter-demonstration';

export async function seed(db: Database, environment: Environment, now = new Date()): Promise<void> {
  if ((await listOrganizations(db)).length > 0) return;
  const { keyring } = db;
  const passwordHash = await hashPassword(DEMONSTRATION_PASSWORD);
  try {
    await transaction(db, async (tx) => {
      await seedOrganization(tx, {
        keyring,
        name: ORGANIZATION,
        users: USERS,
        programs: demonstrationPrograms(),
        firstIds: SHOWN_PROGRAM_IDS,
        passwordHash,
        environment,
        now,
      });
      await seedOrganization(tx, {
        keyring,
        name: OTHER_ORGANIZATION,
        users: OTHER_USERS,
        programs: otherPrograms(),
        firstIds: [],
        passwordHash,
        environment,
        now,
      });
    });
  } catch (error) {
    // Another process seeded the database at the same time.
    if (!isUniqueViolation(error)) throw error;
  }
}

type SeedOrganization = {
  keyring: Keyring;
  name: string;
  users: typeof USERS;
  programs: DemonstrationProgram[];
  /** The ids of the first parent programs. The other programs get new ids. */
  firstIds: readonly string[];
  passwordHash: string;
  environment: Environment;
  now: Date;
};

async function seedOrganization(
  tx: Transaction,
  { keyring, name, users, programs, firstIds, passwordHash, environment, now }: SeedOrganization,
): Promise<void> {
  const scope = OrganizationScope.grant(newId());
  await insertOrganization(tx, scope, { name, keyring });
  for (const user of users) await insertUser(tx, scope, { ...user, id: newId(), passwordHash });
  const { organizationId } = scope;
  await tx.parentProgram.createMany({
    data: programs.map((program, i) => {
      const createdAt = new Date(now.getTime() - (programs.length - i) * DAY_MS);
      const metadata = { ...program.metadata };
      return {
        ...program,
        metadata,
        organizationId,
        id: firstIds[i] ?? newId({ msecs: createdAt.getTime() }),
        createdAt,
        updatedAt: createdAt,
      };
    }),
  });
  const [shownId] = firstIds;
  if (shownId === undefined) return;
  const { count } = await tx.event.updateMany({
    where: { organizationId, data: { path: ['id'], equals: shownId } },
    data: { id: SHOWN_EVENT_ID },
  });
  if (count !== 1) throw new Error('The first program must have one event.');
  await seedKeys(tx, scope, { environment, now });
}

const KEY_NAME = 'Demonstration';
/**
 * The maximum number of attempts, and therefore of processes that may start at once: in each round of conflicts, at least one
 * process succeeds.
 */
const ATTEMPTS = 10;

/**
 * Issues an API key for the demonstration's administrator; returns `null` if there are no demonstration data. Each start issues a
 * new key, because the database contains only the hashes of keys. If the user has too many keys, revokes the oldest demonstration
 * key.
 */
export async function issueDemonstrationKey(
  db: Database,
  environment: Environment,
  cell: string | null = null,
): Promise<string | null> {
  const [user] = await listUsersByEmail(db, USERS[0]?.email ?? '');
  if (user === undefined || user.organization.name !== ORGANIZATION) return null;
  const scope = OrganizationScope.grant(user.organizationId);
  const operator = { kind: 'operator', scope } as const;
  const request = { userId: user.id, permissions: PERMISSIONS, lifeDays: 30, environment, cell };
  for (let attempt = 1; ; attempt += 1) {
    await makeRoom(db, operator, user.id);
    const outcome = await issueKey(db, operator, { ...request, name: `${KEY_NAME} ${newId().slice(-12)}` });
    // A conflict means that another starting process has issued a key in the meantime. The next attempt revokes a key again.
    if (outcome.kind !== 'conflict' || attempt === ATTEMPTS) return orThrow(outcome).key;
  }
}

async function makeRoom(db: Database, operator: OperatorInScope, userId: string): Promise<void> {
  const standing = await listCurrentKeys(db.prisma, operator.scope, userId);
  const active = standing.filter((key) => endOf(key, new Date()) === null);
  const oldest = active.find(({ name }) => name.startsWith(KEY_NAME));
  if (active.length < MAX_ACTIVE_KEYS || oldest === undefined) return;
  // A conflict means that another process has revoked the same key, so it is ignored.
  await revokeKey(db, operator, { keyId: oldest.id, userId });
}
