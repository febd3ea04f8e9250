import type { Logger } from 'pino';
import type { Keyring } from '../domain/keyring.ts';
import { signatureOf } from '../domain/webhooks/webhook-message.ts';
import type { SpanEnd, SpanStart, Tracing } from '../observability/instruments/tracing.ts';
import { placeOfPreviousWebhookSecret, placeOfWebhookSecret } from '../store/sql/secrets.ts';
import type { AttemptResult, ClaimedDelivery, EndpointKey } from '../store/webhooks/webhook-deliveries.ts';
import { EVENT_NOT_KEPT, type Reply, type Sender } from './sender.ts';

const WARN_MS = 60_000;

export type AttempterOptions = {
  readonly logger: Logger;
  readonly sender: Sender;
  /** The value of the User-Agent header, such as "Charter/1.4.0". */
  readonly userAgent: string;
  /** Records a span for each attempt; `null` if traces are off. */
  readonly tracing: Tracing | null;
};

/** Signs a delivery and sends it to its endpoint, once. */
export class Attempter {
  readonly #keyring: Keyring;
  readonly #options: AttempterOptions;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(keyring: Keyring, options: AttempterOptions) {
    this.#keyring = keyring;
    this.#options = options;
  }

  /** Makes one attempt. Returns `null` if there is no result; the delivery is then due again when its lease ends. */
  async attempt(delivery: ClaimedDelivery): Promise<AttemptResult | null> {
    const { organizationId, endpointId, messageId, number, failures, url, body } = delivery;
    const at = new Date();
    const startedAt = performance.now();
    const reply = body === null ? NOT_SENT : await this.#send({ ...delivery, body, at });
    if (reply === null) return null;
    const retryMs = body === null ? null : retryMsAfter(failures + 1, Math.random());
    return {
      organizationId,
      endpointId,
      messageId,
      number,
      failures,
      url,
      wasSent: body !== null,
      at,
      durationMs: performance.now() - startedAt,
      status: reply.status,
      error: reply.error,
      responseBody: reply.body,
      retryMs,
    };
  }

  async #send(delivery: ClaimedDelivery & { body: string; at: Date }): Promise<Reply | null> {
    const { url, messageId: id, body, at } = delivery;
    const { sender, userAgent, tracing } = this.#options;
    const span = tracing?.startTrace(stepOf(delivery));
    try {
      const timestamp = Math.floor(at.getTime() / 1000);
      const headers = {
        'Content-Type': 'application/json',
        'User-Agent': userAgent,
        'webhook-id': id,
        'webhook-timestamp': String(timestamp),
        'webhook-signature': signatureOf({ id, timestamp, body }, this.#secretsOf(delivery)),
      };
      const reply = await sender.send({ url, headers, body });
      span?.end(endOfAttempt(reply));
      return reply;
    } catch (error) {
      span?.end({ error: 'unknown' });
      this.#warn(error, delivery);
      return null;
    }
  }

  /** Logs a warning at most once a minute, because all deliveries of an endpoint may fail in the same way. */
  #warn(error: unknown, { organizationId, endpointId }: EndpointKey): void {
    const now = performance.now();
    if (now - this.#warnedAt < WARN_MS) return;
    this.#warnedAt = now;
    const line = { err: error, organizationId, endpointId };
    this.#options.logger.warn(line, 'could not attempt a webhook delivery; will try again');
  }

  /**
   * Returns the secrets that sign the delivery, the current secret first. Throws if this process lacks the encryption key of a
   * secret.
   */
  #secretsOf({ organizationId, endpointId, secret, previousSecret }: ClaimedDelivery): Buffer[] {
    const endpoint = { organizationId, id: endpointId };
    const current = this.#keyring.decrypt(secret, placeOfWebhookSecret(endpoint));
    if (previousSecret === null) return [current];
    return [current, this.#keyring.decrypt(previousSecret, placeOfPreviousWebhookSecret(endpoint))];
  }
}

const NOT_SENT: Reply = { status: null, error: EVENT_NOT_KEPT, body: Buffer.alloc(0) };

/**
 * Returns the span of an attempt. The span contains neither the URL nor the organization. No `traceparent` is sent, because it
 * would only tell the receiver, a third party, how this server numbers and samples its traces.
 */
function stepOf({ messageId, number }: ClaimedDelivery): SpanStart {
  return {
    name: 'POST webhook',
    kind: 'client',
    attributes: {
      'http.request.method': 'POST',
      'messaging.message.id': messageId,
      ...(number > 1 && { 'http.request.resend_count': number - 1 }),
    },
  };
}

function endOfAttempt(reply: Reply | null): SpanEnd {
  if (reply === null) return { error: 'abandoned' };
  const { status } = reply;
  if (status === null) return { error: 'no response' };
  return {
    attributes: { 'http.response.status_code': status },
    error: isSuccessful(reply) ? undefined : String(status),
  };
}

export function isSuccessful({ status }: Pick<AttemptResult, 'status'>): boolean {
  return status !== null && status >= 200 && status < 300;
}

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** The waits after the first failure, the second failure and so on. The attempt after the last wait is the last attempt. */
const WAITS_SECONDS = [5, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 10 * HOUR];
/** The largest share by which a wait is extended at random, so that the retries of many deliveries are spread over time. */
const JITTER = 0.1;

/**
 * Returns the time in milliseconds until the next attempt, or `null` if there is none. `failures` is the number of failed
 * attempts so far, at least 1. `random` is from 0 to 1.
 */
export function retryMsAfter(failures: number, random: number): number | null {
  const seconds = WAITS_SECONDS[failures - 1];
  return seconds === undefined ? null : seconds * 1000 * (1 + JITTER * random);
}
