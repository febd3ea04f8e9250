import type { ResultCounts } from '../../../src/domain/keys/key-usage.ts';
import { writeKeyUses } from '../../../src/store/keys/key-uses.ts';
import type { Database } from '../../../src/store/sql/database.ts';

const HOUR_MS = 3_600_000;

type Requests = Partial<ResultCounts> & {
  readonly organizationId: string;
  readonly keyId: string;
  /** The requests among `refused` that a rate limit refused. */
  readonly limited?: number;
  /** Any moment of their hour. */
  readonly at: Date;
};

/** Adds requests with a key to those that are counted. */
export async function addRequests(
  db: Database,
  { organizationId, keyId, at, successful = 0, refused = 0, failed = 0, limited = 0 }: Requests,
): Promise<void> {
  const hour = new Date(Math.floor(at.getTime() / HOUR_MS) * HOUR_MS);
  const counts = { refusedUses: 0, limited };
  const noUse = { lastUsedAt: null, network: null, client: null, networks: new Map<string, string>(), ...counts };
  await writeKeyUses(db, [{ organizationId, keyId, hour, ...noUse, successful, refused, failed }]);
}
