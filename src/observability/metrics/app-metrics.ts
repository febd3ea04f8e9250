import type { Database } from '../../store/sql/database.ts';
import type { Traffic } from '../../traffic/traffic.ts';
import type { Reporter } from '../reporter.ts';
import { counter, gauge, histogram, type Metric, samplesBy } from './metric.ts';
import type { RequestDurations } from './request-durations.ts';

export type AppMeasures = {
  readonly requests: RequestDurations;
  readonly reporter: Pick<Reporter, 'keyRefusals' | 'overloads'>;
  readonly traffic: Pick<Traffic, 'queues' | 'limiter' | 'lookUps'>;
  readonly cache: CacheMeasures;
  readonly db: Pick<Database, 'pool' | 'poolSize'>;
};

export type CacheMeasures = {
  readonly found: Readonly<Record<string, number>>;
  readonly entries: number;
  readonly bytes: number;
  readonly evicted: number;
};

/** What the application counts. No label has a value that a request, a person or an organization chooses. */
export function appMetrics(measures: AppMeasures): Metric[] {
  return [
    ...requestMetrics(measures),
    ...queueMetrics(measures),
    ...limitMetrics(measures),
    ...cacheMetrics(measures),
    ...databaseMetrics(measures),
  ];
}

function requestMetrics({ requests, reporter: { keyRefusals } }: AppMeasures): Metric[] {
  return [
    histogram(
      {
        name: 'charter_request_duration_seconds',
        help: 'From the head of a request to the end of its response, by operation of the contract, or part of the server, and class of the status.',
      },
      () =>
        [...requests.entries()].map(({ operation, status, durations }) => ({
          labels: { operation, status },
          distribution: durations,
        })),
    ),
    counter(
      {
        name: 'charter_keys_refused_total',
        help: 'Requests that were refused because of their API key: it is missing or not accepted, may not be used from the address, lacks the permission, or its organization is suspended.',
      },
      () => samplesBy('reason', keyRefusals.entries()),
    ),
  ];
}

function queueMetrics({ traffic: { queues, lookUps }, reporter: { overloads } }: AppMeasures): Metric[] {
  return [
    gauge({ name: 'charter_queue_running', help: 'Requests that use the database now.' }, () =>
      samplesBy('queue', [
        ['api', queues.api.running],
        ['dashboard', queues.dashboard.running],
      ]),
    ),
    gauge({ name: 'charter_queue_waiting', help: 'Requests that wait for their turn to use the database.' }, () =>
      samplesBy('queue', [
        ['api', queues.api.waiting],
        ['dashboard', queues.dashboard.waiting],
        ['keys', lookUps.measures.waiting],
      ]),
    ),
    counter(
      { name: 'charter_queue_refused_total', help: 'Requests that were refused because a queue was full or slow.' },
      () =>
        samplesBy(
          'queue',
          overloads.entries().map(([name, value]) => [name.replaceAll(' ', '_'), value]),
        ),
    ),
    histogram(
      { name: 'charter_key_look_up_batch_size', help: 'Requests whose API keys are looked up with one statement.' },
      () => [{ labels: {}, distribution: lookUps.measures.batchSizes }],
    ),
  ];
}

function limitMetrics({ traffic: { limiter } }: AppMeasures): Metric[] {
  return [
    counter(
      {
        name: 'charter_rate_limited_total',
        help: 'Requests that a rate limit refused or, without a valid key, delayed.',
      },
      () => samplesBy('limit', Object.entries(limiter.refused)),
    ),
    gauge(
      {
        name: 'charter_rate_limit_waiting',
        help: 'Requests that wait until PostgreSQL has counted them for a rate limit.',
      },
      () => limiter.waiting,
    ),
    counter(
      {
        name: 'charter_rate_limit_lease_failures_total',
        help: 'Failures to count requests in PostgreSQL. For a second after each, no rate limit applies.',
      },
      () => limiter.failedLeases,
    ),
  ];
}

function cacheMetrics({ cache }: AppMeasures): Metric[] {
  return [
    counter(
      { name: 'charter_response_cache_requests_total', help: 'Requests that could use the response cache.' },
      () => samplesBy('result', Object.entries(cache.found)),
    ),
    gauge({ name: 'charter_response_cache_bytes', help: 'Estimated memory of the response cache.' }, () => cache.bytes),
    gauge({ name: 'charter_response_cache_entries', help: 'Responses in the response cache.' }, () => cache.entries),
    counter(
      { name: 'charter_response_cache_evicted_total', help: 'Responses that made room for others.' },
      () => cache.evicted,
    ),
  ];
}

function databaseMetrics({ db: { pool, poolSize } }: AppMeasures): Metric[] {
  return [
    gauge({ name: 'charter_database_connections', help: 'Open connections to PostgreSQL.' }, () =>
      samplesBy('state', [
        ['in_use', pool.totalCount - pool.idleCount],
        ['idle', pool.idleCount],
      ]),
    ),
    gauge({ name: 'charter_database_connections_max', help: 'DATABASE_POOL_SIZE.' }, () => poolSize),
    gauge(
      { name: 'charter_database_waiting', help: 'Work that waits for a free connection.' },
      () => pool.waitingCount,
    ),
  ];
}
