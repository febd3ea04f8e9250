// Checks the server against the document with generated requests. `npm run fuzz` runs more of them.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../src/contract/document.ts';
import { resources } from '../support/contract/resources.ts';
import { fuzz, type PropertyName, type Start } from './fuzz.ts';
import { resourcesOf } from './resource-model.ts';
import { openWorld } from './world.ts';

/** Long enough for a busy machine. */
const MOST_SECONDS = 1200;
const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

const world = await openWorld({ lifeSeconds: 3 * MOST_SECONDS });
afterAll(() => world.close());

const hold = (name: PropertyName, runs: number, start: Start) => fuzz(name, { document, world, runs, ...start });

test(
  'requests generated from the document get the responses that it declares',
  async () => {
    const before = world.count.requests;
    expect(await hold('requests', 300, { seed: 1 })).toBeNull();
    expect(world.count.requests - before).toBeGreaterThan(3000);
  },
  MOST_SECONDS * 1000,
);

test('the sequences cover every resource of the contract', () => {
  expect(resourcesOf(document).map(({ path }) => path)).toEqual(resources.map(({ path }) => path));
});

test(
  'two organizations in turn see their own writes and nothing of each other',
  async () => {
    expect(await hold('sequences', 60, { seed: 2 })).toBeNull();
  },
  MOST_SECONDS * 1000,
);

test(
  'malformed bytes get a response of the document or none, and the server keeps running',
  async () => {
    expect(await hold('garbage', 150, { seed: 3 })).toBeNull();
  },
  MOST_SECONDS * 1000,
);
