import { type Call, type LooseResult, randomKey } from './calling.ts';
import type { ErrorResult } from './contract.ts';
import { ResponseError, UnexpectedResponseError } from './errors.ts';
import type { Clock } from './sending.ts';

// The contract's maximum number of changes in a batch, and its maximum size of the body.
export const MAX_CHANGES = 100;
const MAX_BATCH_BYTES = 1_048_576;

const TOO_LARGE = 413;

export type LooseBatch = {
  readonly number: number;
  readonly outcomes: readonly ({ readonly change: object } & ChangeResult)[];
  readonly done: number;
};

type ChangeResult = {
  readonly status: number;
  readonly etag: unknown;
  readonly body: unknown;
  readonly exception: unknown;
};

export type Batching = {
  readonly path: string;
  readonly changes: Iterable<object> | AsyncIterable<object>;
  readonly run?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly clock: Clock;
};

/**
 * Sends the changes in batches. Each batch is sent only after the caller has consumed the outcomes of the previous batch. The
 * idempotency key consists of the run's name and the number of the batch, so that a repeated run with the same changes gets the
 * same responses to the batches that the server has already processed.
 */
export async function* batchesOf(
  call: Call,
  { path, changes, run = randomKey(), signal, clock }: Batching,
): AsyncGenerator<LooseBatch, void, void> {
  if (!/^[\x21-\x7E]{1,200}$/.test(run)) throw new TypeError('run must be 1 to 200 visible ASCII characters.');
  const pace = new Pace(clock);
  let number = 0;
  let done = 0;
  for await (const batch of cutIntoBatches(changes)) {
    number += 1;
    await pace.ready(signal);
    const header = { 'Idempotency-Key': `${run}-${number}` };
    const result = await call('post', `${path}/batch`, { params: { header }, body: { changes: batch }, signal });
    pace.noteResponse(result.headers);
    const outcomes = outcomesIn(result, { path, count: batch.length });
    done += batch.length;
    yield { number, outcomes: outcomes.map((outcome, i) => ({ change: batch[i] ?? {}, ...outcome })), done };
  }
}

/** Groups the changes into batches. Each batch is as large as a request may be. */
export async function* cutIntoBatches<Change extends object>(
  changes: Iterable<Change> | AsyncIterable<Change>,
  { maxChanges = MAX_CHANGES }: { maxChanges?: number } = {},
): AsyncGenerator<Change[], void, void> {
  const encoder = new TextEncoder();
  const emptyBytes = encoder.encode(JSON.stringify({ changes: [] })).length;
  let batch: Change[] = [];
  let bytes = emptyBytes;
  for await (const change of changes) {
    const changeBytes = encoder.encode(JSON.stringify(change)).length + ','.length;
    if (batch.length === maxChanges || (batch.length > 0 && bytes + changeBytes > MAX_BATCH_BYTES)) {
      yield batch;
      batch = [];
      bytes = emptyBytes;
    }
    batch.push(change);
    bytes += changeBytes;
  }
  if (batch.length > 0) yield batch;
}

function outcomesIn(result: LooseResult, { path, count }: { path: string; count: number }): readonly ChangeResult[] {
  const name = `POST ${path}/batch`;
  if ('error' in result) {
    if (result.status === TOO_LARGE && count === 1)
      return [{ status: TOO_LARGE, etag: null, body: null, exception: result.error }];
    // The assertion relies on the server: the client does not verify that a response matches the contract.
    throw new ResponseError(name, result as ErrorResult);
  }
  const { results } = Object(result.data);
  if (Array.isArray(results) && results.length === count) return results;
  throw new UnexpectedResponseError(name, {
    status: result.status,
    reason: 'its body does not have the outcome of each change',
  });
}

/**
 * Keeps batches within the rate limit. A batch takes up to 100 requests from the limit, and the next batch is sent when these
 * requests are available again. Without this pause, the server would refuse the next batch, and the retry would have to wait for
 * whole seconds.
 */
export class Pace {
  readonly #clock: Clock;
  #readyAt = Number.NEGATIVE_INFINITY;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Waits until the next batch may be sent. Rejects with the signal's reason as soon as the signal is aborted. */
  async ready(signal: AbortSignal | undefined): Promise<void> {
    const waitMs = this.#readyAt - this.#clock.now();
    if (waitMs > 0) await this.#clock.wait(waitMs, signal);
  }

  /** Computes when the next batch may be sent. `headers` are the headers of the response to a batch. */
  noteResponse(headers: Headers): void {
    this.#readyAt = this.#clock.now() + refillMs(headers);
  }
}

/**
 * Returns the time until Charter's rate limit is completely refilled, at most a second (draft-ietf-httpapi-ratelimit-headers-11).
 * Returns 0 if there is no limit, or if the limit is not Charter's, such as a proxy's limit for an hour.
 */
function refillMs(headers: Headers): number {
  const [, name = '', left = ''] = /^"([a-z]+)";r=(\d+);t=1$/.exec(headers.get('RateLimit') ?? '') ?? [];
  const [, quota = ''] = new RegExp(`"${name}";q=(\\d+);w=1(?!\\d)`).exec(headers.get('RateLimit-Policy') ?? '') ?? [];
  return left === '' || quota === '' ? 0 : Math.max(0, 1000 - (1000 * Number(left)) / Number(quota));
}
