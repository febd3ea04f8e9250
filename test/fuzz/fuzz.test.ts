// The server against the document, by requests that nobody has thought of. `npm run fuzz` goes on where this ends.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Json } from '../../src/api/document.ts';
import { fuzz } from './fuzz.ts';
import { openWorld, type World } from './world.ts';

/** On a busy machine. */
const MOST_SECONDS = 600;
const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

let world: World;
beforeAll(async () => {
  world = await openWorld({ lifeSeconds: 3 * MOST_SECONDS });
});
afterAll(() => world.close());

test(
  'requests that are generated from the document get what the document shows',
  async () => {
    expect(await fuzz('requests', { document, world, runs: 300, seed: 1 })).toBeNull();
    expect(world.count.requests).toBeGreaterThan(3000);
  },
  MOST_SECONDS * 1000,
);
