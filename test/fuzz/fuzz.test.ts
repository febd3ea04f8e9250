// The server against the document, by requests that nobody has thought of. `npm run fuzz` goes on where this ends.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/api/document.ts';
import { length } from '../support/length.ts';
import { fuzz, type PropertyName, type Start } from './fuzz.ts';
import { openWorld, type World } from './world.ts';

/** On a busy machine. */
const MOST_SECONDS = 1200;
const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

let world: World;
beforeAll(async () => {
  world = await openWorld({ lifeSeconds: 3 * MOST_SECONDS });
});
afterAll(() => world.close());

const hold = (name: PropertyName, runs: number, start: Start) => fuzz(name, { document, world, runs, ...start });

test(
  'requests that are generated from the document get what it shows',
  async () => {
    const before = world.count.requests;
    expect(await hold('requests', length({ short: 60, full: 300 }), { seed: 1 })).toBeNull();
    expect(world.count.requests - before).toBeGreaterThan(length({ short: 500, full: 3000 }));
  },
  MOST_SECONDS * 1000,
);

test(
  'two organizations in turn see what they have written, and nothing of each other',
  async () => {
    expect(await hold('sequences', length({ short: 12, full: 60 }), { seed: 2 })).toBeNull();
  },
  MOST_SECONDS * 1000,
);

test(
  'bytes that no client would send get an answer of the document, or none, and the server lives on',
  async () => {
    expect(await hold('garbage', length({ short: 40, full: 150 }), { seed: 3 })).toBeNull();
  },
  MOST_SECONDS * 1000,
);
