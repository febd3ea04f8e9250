import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TIME_ZONE } from '../postgres/postgres.ts';
import { type Services, shareServices } from './services.ts';

declare global {
  var charterTestServices: Services | undefined;
}

/** Prepares a test run. `seed` determines the order of the tests within a file. */
export default async function setUp({ seed = 0 }: { seed?: number } = {}): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-test-'));
  const services = await shareServices();
  globalThis.charterTestServices = services;
  // On a signal, Jest exits without the tear-down, which would leave PostgreSQL and its data behind.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, async () => {
      await services.end();
      await rm(folder, { recursive: true, force: true });
      process.exit(130);
    });
  }
  process.env['CHARTER_TEST_FOLDER'] = folder;
  // The workers and the processes that tests start share this cache. `npm test` sets another folder, which it keeps for its next
  // run.
  process.env['NODE_COMPILE_CACHE'] ??= join(folder, 'compiled');
  process.env['CHARTER_TEST_SERVICES'] = globalThis.charterTestServices.url;
  process.env['CHARTER_TEST_SEED'] = String(seed);
  process.env['NODE_ENV'] = 'test';
  // The time zone is far from UTC and not a whole number of hours away, so that code that depends on the time zone of the machine
  // fails.
  process.env['TZ'] = TIME_ZONE;
}
