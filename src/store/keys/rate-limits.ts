import { HOUR_MS } from '../../domain/time.ts';
import { CHUNK_ROWS, type Deletion, deleteInChunks } from '../sql/chunks.ts';
import type { Database } from '../sql/database.ts';

/** A bucket holds the requests of so many seconds. */
const BURST_SECONDS = 0.2;
const KEPT_HOURS = 1;

/** Tokens that a bucket holds at most, at least 1. `rate` is in tokens per second. */
export function capacityOf(rate: number): number {
  return Math.max(1, rate * BURST_SECONDS);
}

export type LeaseRequest = {
  /** Unique within one call. */
  readonly subject: string;
  /** Tokens per second. */
  readonly rate: number;
  /** An integer from 0 to the bucket's capacity. */
  readonly wanted: number;
  /** Tokens that are taken in any case, even if the bucket then holds fewer than none. */
  readonly owed: number;
};

/** The result is one text for each row, because pg parses the description of each column with every result. */
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

/** The outcome of a lease. */
export type Lease = {
  readonly granted: number;
  /** Tokens that are left in the bucket. Below 0: owed, until the bucket is refilled. */
  readonly left: number;
};

/**
 * Takes tokens from the buckets of the subjects, in one statement. A bucket is refilled by the database's clock, so all
 * processes share it; a new one is full. Rows are locked in the order of their subjects, so that no two processes wait for
 * each other. The table is unlogged: after a crash of PostgreSQL, all buckets are full.
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

/** Deletes the buckets that were not used for an hour, which are full. Returns how many. */
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
