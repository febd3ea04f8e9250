import { KEY_REFUSAL_REASONS, type KeyRefusalReason, OVERLOADED, type Overloaded } from '../domain/errors.ts';
import type { Exchange } from '../domain/exchange.ts';
import { MissingEncryptionKeyError } from '../domain/keyring.ts';
import { logFailures } from './failure-log.ts';
import { Tally } from './instruments/tally.ts';
import type { Observers } from './observers.ts';
import { logRefusals } from './overload-log.ts';

/** Why an active key may not do what a request asks: the client's address, a suspended organization, or a lacking permission. */
const FORBIDDEN_REASONS = ['address', 'suspended', 'permission'] as const;
type RefusalReason = KeyRefusalReason | (typeof FORBIDDEN_REASONS)[number];

export type Reporter = ReturnType<typeof createReporter>;

/** Receives what goes wrong in the parts of the application, which logs and counts it. */
export function createReporter({ logger, tracing }: Observers) {
  const logFailure = logFailures(logger, tracing);
  const refusals = logRefusals(logger);
  const overloads = new Tally(OVERLOADED);
  const keyRefusals = new Tally<RefusalReason>([...KEY_REFUSAL_REASONS, ...FORBIDDEN_REASONS]);
  let lacksEncryptionKey = false;
  return {
    overloads,
    keyRefusals,
    /** Whether a request has needed an encryption key that this process does not have. */
    lacksEncryptionKey: () => lacksEncryptionKey,
    /** A bug or an outage. */
    onFault(error: unknown, requestId: string): void {
      // Until a restart: the process would fail for more and more requests, which another one may be able to serve.
      if (error instanceof MissingEncryptionKeyError) lacksEncryptionKey = true;
      logFailure(error, requestId);
    },
    /** A refusal under load. */
    onOverload(overloaded: Overloaded, exchange: Exchange): void {
      refusals.log(overloaded);
      overloads.count(overloaded);
      exchange.isLogged = false;
    },
    onRefusedKey: (reason: RefusalReason) => keyRefusals.count(reason),
    onBrokenResponse({ isWithheld, ...broken }: { readonly isWithheld: boolean }): void {
      const line = { ...broken, traceId: tracing?.current()?.traceId };
      if (isWithheld) logger.error(line, 'a response broke the contract and was withheld');
      else logger.warn(line, 'a response broke the contract');
    },
    onMailFailure: (error: unknown) => logger.warn({ err: error }, 'could not send a mail'),
    onLeaseFailure: (error: unknown) =>
      logger.warn({ err: error }, 'could not count requests: for a second, no limit applies'),
    onUseFailure: (error: unknown) =>
      logger.warn({ err: error }, 'could not write the last uses of API keys; will try again'),
    stop: refusals.stop,
  };
}
