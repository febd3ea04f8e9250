import type { Caller } from '../../../src/domain/audit/actor.ts';
import { acceptKey, admitCaller, createFindKey, getKnownKey, parseKeyHash } from '../../../src/service/authenticate.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { NO_KEY_USES } from '../../../src/traffic/last-used.ts';
import { outcomeOf } from './actors.ts';

/** The caller of a request that is sent now. Throws if the key is refused. */
export async function callerWith(db: Database, key: string): Promise<Caller> {
  const options = { findKey: createFindKey(db), now: () => new Date(), keyUses: NO_KEY_USES };
  const known = acceptKey(await getKnownKey(parseKeyHash(key, 'live'), options));
  return admitCaller(known, () => '192.0.2.1');
}

/** "done", or the refusal of a request that is sent now. */
export const outcomeOfUse = (db: Database, key: string) => outcomeOf(callerWith(db, key));

export async function listLiveKeys(db: Database, userId: string) {
  return db.prisma.apiKey.findMany({ where: { userId, rotatedAt: null, revokedAt: null } });
}
