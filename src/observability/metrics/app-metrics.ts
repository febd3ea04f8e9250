import { type CellRows, countRowsOfCell } from '../../store/organizations/cells.ts';
import type { Database } from '../../store/sql/database.ts';
import type { Traffic } from '../../traffic/traffic.ts';
import type { HousekeepingTask } from '../housekeeping.ts';
import type { DeliveryMeasures, Tally } from '../instruments/measures.ts';
import type { Logger } from '../logs.ts';
import type { RequestDurations } from '../observe-requests.ts';
import type { Reporter } from '../reporter.ts';
import { counter, gauge, histogram, type Metric, samplesBy } from './metric.ts';

export type AppMeasures = {
  readonly requests: RequestDurations;
  readonly reporter: Pick<Reporter, 'keyRefusals' | 'overloads' | 'mailFailures'>;
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

/** Returns the metrics of the application. No label has a value that a request, a person or an organization can choose. */
export function appMetrics(measures: AppMeasures): Metric[] {
  return [
    ...requestMetrics(measures),
    ...queueMetrics(measures),
    ...limitMetrics(measures),
    ...cacheMetrics(measures),
    ...databaseMetrics(measures),
    counter(
      { name: 'charter_mail_failures_total', help: 'Mails that the SMTP server did not accept.' },
      () => measures.reporter.mailFailures.count,
    ),
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
      () => [{ labels: {}, distribution: lookUps.measures.requestsPerLookUp }],
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

export function housekeepingMetric(failures: Tally<HousekeepingTask>): Metric {
  return counter(
    {
      name: 'charter_housekeeping_failures_total',
      help: 'Deletions of expired rows that failed, by the kind of the rows.',
    },
    () => samplesBy('rows', failures.entries()),
  );
}

export function deliveryMetrics(measures: DeliveryMeasures): Metric[] {
  return [
    counter({ name: 'charter_webhook_attempts_total', help: 'Attempts to deliver webhooks.' }, () =>
      samplesBy('outcome', measures.attempts.entries()),
    ),
    histogram(
      { name: 'charter_webhook_attempt_duration_seconds', help: 'Duration of attempts to deliver webhooks.' },
      () => [{ labels: {}, distribution: measures.durations }],
    ),
    gauge(
      {
        name: 'charter_webhook_deliveries',
        help: 'Deliveries that have not ended, and those that are due. Counted once a minute, over all processes.',
      },
      () => samplesBy('state', Object.entries(measures.backlog)),
    ),
  ];
}

export const CELL_INFO = 'charter_cell_info';
export const CELL_ROWS = 'charter_cell_rows';

export type CellMeasures = { readonly name: string; readonly version: string; readonly rows: () => CellRows | null };

/**
 * Returns the metrics that name the cell and show its size. The label is not called "cell", because the operator's
 * configuration of Prometheus adds a label of that name.
 */
export function cellMetrics({ name, version, rows }: CellMeasures): Metric[] {
  return [
    gauge({ name: CELL_INFO, help: '1, with the name of the cell and the version of the server.' }, () => [
      { labels: { name, version }, value: 1 },
    ]),
    gauge(
      { name: CELL_ROWS, help: 'Rows of the cell. Counted once a minute: exactly up to 10,000, and estimated beyond.' },
      () => samplesBy('table', Object.entries(rows() ?? {})),
    ),
  ];
}

const EVERY_MS = 60_000;

export type CellRowCount = {
  /** Returns the numbers of rows at the last count; `null` before the first count. */
  last(): CellRows | null;
  /** Stops counting, and waits for the count in progress. */
  stop(): Promise<void>;
};

/** Counts the rows of the cell immediately, and then once a minute, unless the last count is still in progress. */
export function startCountingRows(db: Database, logger: Logger, { everyMs = EVERY_MS } = {}): CellRowCount {
  let last: CellRows | null = null;
  let counting: Promise<void> | undefined;
  const count = async () => {
    try {
      last = await countRowsOfCell(db);
    } catch (error) {
      logger.warn({ err: error }, 'could not count the rows of the cell; will try again');
    }
  };
  const run = () => {
    counting ??= count().finally(() => {
      counting = undefined;
    });
  };
  run();
  const timer = setInterval(run, everyMs).unref();
  return {
    last: () => last,
    async stop() {
      clearInterval(timer);
      await counting;
    },
  };
}
