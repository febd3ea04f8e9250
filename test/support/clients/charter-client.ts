import { type CharterClient, createTypedClient } from '../../../src/client/client.ts';
import type { Clock } from '../../../src/client/sending.ts';
import { type ClientOptions, readSettings } from '../../../src/client/settings.ts';

export type TestClock = Clock & { readonly waitsMs: number[] };

/**
 * Creates a simulated clock. Time passes only while something waits. `chance` is what the clock returns as its random number,
 * from 0 to 1.
 */
export function createTestClock({ chance = 0 }: { chance?: number } = {}): TestClock {
  const waitsMs: number[] = [];
  return {
    waitsMs,
    now: () => waitsMs.reduce((sum, each) => sum + each, 0),
    random: () => chance,
    async wait(milliseconds, signal) {
      signal?.throwIfAborted();
      waitsMs.push(milliseconds);
    },
  };
}

export function createClientOn(clock: Clock, options: ClientOptions): CharterClient {
  return createTypedClient(readSettings(options), clock);
}
