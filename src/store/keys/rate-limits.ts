import { HOUR_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';

/** A token bucket holds the tokens of this many seconds. */
const BURST_SECONDS = 0.2;
const KEPT_HOURS = 1;

/** Returns the capacity of a bucket in tokens, which is at least 1. `rate` is in tokens per second. */
export function capacityOf(rate: number): number {
  return Math.max(1, rate * BURST_SECONDS);
}

export type LeaseRequest = {
  /** The name of the bucket. It must be unique within one call. */
  readonly subject: string;
  /** The number of tokens that are added to the bucket per second. */
  readonly rate: number;
  /** The number of tokens to take if the bucket holds them: an integer from 0 to the bucket's capacity. */
  readonly wanted: number;
  /** The number of tokens to take in any case, even if the bucket's balance becomes negative. */
  readonly owed: number;
};

/** Each row of the result is one string, because pg parses the description of every column for each result. */
const LEASE = {
  name: 'lease_tokens',
  rowMode: 'array' as const,
  text: `
    insert into rate_limits as r (subject, rate, tokens, granted, updated_at)
    select a.subject, a.rate, greatest(1, a.rate * ${BURST_SECONDS}) - a.wanted - a.owed, a.wanted, clock_timestamp()
    from unnest($1::text[], $2::float8[], $3::float8[], $4::float8[]) as a (subject, rate, wanted, owed)
    order by a.subject
    on conflict (subject) do update set (rate, tokens, granted, updated_at) = (
      select excluded.rate, b.tokens - b.granted, b.granted, b.at
      from (
        select f.tokens, f.at, greatest(0, least(excluded.granted, floor(f.tokens))) as granted
        from (
          select n.at, least(
                   greatest(1, excluded.rate * ${BURST_SECONDS}),
                   r.tokens + greatest(0, extract(epoch from n.at - r.updated_at)) * excluded.rate)
                 - round(greatest(1, excluded.rate * ${BURST_SECONDS}) - excluded.granted - excluded.tokens) as tokens
          from (select clock_timestamp() as at) n
        ) f
      ) b
    )
    returning json_build_array(subject, granted, tokens)`,
};

export type Lease = {
  readonly granted: number;
  /** The number of tokens that are left in the bucket. It is negative if the bucket owes tokens. */
  readonly left: number;
};

/**
 * Takes tokens from several buckets in one SQL statement. A bucket is refilled by the database's clock, which all processes
 * share; a new bucket is full. Rows are locked in the order of their subjects, so that two processes cannot deadlock. The table
 * is unlogged, so all buckets are full after a crash of PostgreSQL.
 */
export async function leaseTokens(
  db: Database,
  requests: readonly LeaseRequest[],
): Promise<ReadonlyMap<string, Lease>> {
  const values = [
    requests.map(({ subject }) => subject),
    requests.map(({ rate }) => rate),
    requests.map(({ wanted }) => wanted),
    requests.map(({ owed }) => owed),
  ];
  const { rows } = await db.pool.query<[[subject: string, granted: number, left: number]]>({ ...LEASE, values });
  return new Map(rows.map(([[subject, granted, left]]) => [subject, { granted, left }]));
}

/**
 * Deletes buckets that were not used for an hour, because such buckets are full, like new ones. Returns the number of deleted
 * buckets.
 */
export async function deleteIdleRateLimits(db: Database, deletion: Deletion): Promise<number> {
  const before = new Date(deletion.now.getTime() - KEPT_HOURS * HOUR_MS);
  return deleteInChunks(
    deletion,
    () => db.prisma.$executeRaw`
      delete from rate_limits where subject = any(array(
        select subject from rate_limits where updated_at < ${before}
        limit ${CHUNK_ROWS}::int for update skip locked))`,
  );
}
