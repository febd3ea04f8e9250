import type { Caller } from '../../../src/domain/audit/actor.ts';
import type { ResultCounts } from '../../../src/domain/keys/key-usage.ts';
import { acceptKey, admitCaller, createFindKey, getKnownKey, parseKeyHash } from '../../../src/service/authenticate.ts';
import { writeKeyUses } from '../../../src/store/keys/key-uses.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { NO_KEY_USES } from '../../../src/traffic/last-used.ts';
import { createActor, giveKey, outcomeOf, type People } from './actors.ts';

const HOUR_MS = 3_600_000;

type Requests = Partial<ResultCounts> & {
  readonly organizationId: string;
  readonly keyId: string;
  /** The operation of the requests. Default: `getKey`. */
  readonly operation?: string;
  /** How many of the `refused` requests a rate limit refused. */
  readonly limited?: number;
  /** Any time within the hour of the requests. */
  readonly at: Date;
};

export async function addRequests(
  db: Database,
  { organizationId, keyId, at, operation = 'getKey', successful = 0, refused = 0, failed = 0, limited = 0 }: Requests,
): Promise<void> {
  const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  const counts = {
    refusedUses: 0,
    limited,
    requests: [],
    unlisted: 0,
    operations: new Map([[operation, { successful, refused, failed }]]),
  };
  const noUse = { lastUsedAt: null, network: null, client: null, networks: new Map<string, string>(), ...counts };
  await writeKeyUses(db, [{ organizationId, keyId, hour, ...noUse }]);
}

/** Creates a member with a key. `of` identifies the key in the records of uses. */
export async function newKeyIn(db: Database, { scope }: Pick<People, 'scope'>) {
  const actor = await createActor(db, scope, 'member');
  const { id, key } = await giveKey(db, actor);
  return { actor, id, key, of: { organizationId: scope.organizationId, id } };
}

/** Returns the uses of the key that are in the database. */
export async function writtenUseOf({ prisma }: Database, id: string) {
  const { lastUsedAt, refusedUses } = await prisma.apiKey.findFirstOrThrow({ where: { id } });
  return { lastUsedAt, refusedUses };
}

/** Returns the caller of a request that is sent now with this key. Throws if the key is refused. */
export async function callerWith(db: Database, key: string): Promise<Caller> {
  const options = { findKey: createFindKey(db), now: () => new Date(), keyUses: NO_KEY_USES };
  const known = acceptKey(await getKnownKey(parseKeyHash(key, 'live'), options));
  return admitCaller(known, () => '192.0.2.1');
}

/** Returns "done", or the refusal of a request that is sent now. */
export const outcomeOfUse = (db: Database, key: string) => outcomeOf(callerWith(db, key));

export async function listLiveKeys(db: Database, userId: string) {
  return db.prisma.apiKey.findMany({ where: { userId, rotatedAt: null, revokedAt: null } });
}
