// Checks the server against the document with generated requests. `npm run fuzz` sends more of them.
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Json } from '../../src/contract/document.ts';
import { exchangeRaw, rawRequest } from '../support/clients/client.ts';
import { plantIn, set } from '../support/contract/planted.ts';
import { startUpstream } from '../support/servers/scripted-server.ts';
import { fuzz, type PropertyName, type Start } from './fuzz.ts';
import { openWorld } from './world.ts';

const document: Json = JSON.parse(readFileSync(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));

const world = await openWorld();
afterAll(() => world.close());

const hold = (name: PropertyName, runs: number, start: Start) => fuzz(name, { document, world, runs, ...start });

test('requests generated from the document get the responses that it declares', async () => {
  const before = world.count.requests;
  expect(await hold('requests', 300, { seed: 1 })).toBeNull();
  expect(world.count.requests - before).toBeGreaterThan(3000);
});

// Checks the generator: if it generated only valid requests, the tests above would always pass.
test('a bound that differs from that of the server is found, and shrunk to one command that shows it', async () => {
  const other = plantIn(document, [set('components parameters Limit schema maximum', 50)]);
  // The search ends with the first run that finds the wrong limit. The number of that run changes with every resource of the
  // contract.
  const failure = await fuzz('requests', { document: other, world, runs: 2500, seed: 1 });
  const [found, command = '', again] = failure?.split('\n') ?? [];
  expect(found).toMatch(/is invalid and must get 422 that names "limit", and got 200\.$/);
  expect(again).toMatch(/npm run fuzz -- --property requests --seed 1 --path [\d:]+$/);
  const env = { PATH: process.env['PATH'], CHARTER_URL: world.url, CHARTER_KEY: (await world.newOrganization()).key };
  expect((await promisify(execFile)('bash', ['-c', command], { env })).stdout).toContain('HTTP/1.1 200 ');
});

test('malformed bytes get a response of the document or none, and the server keeps running', async () => {
  expect(await hold('garbage', 150, { seed: 3 })).toBeNull();
});

test('a response to bytes is read without damage to a character that arrives in two segments', async () => {
  // The bug: exchangeRaw turned a character that arrived in two chunks into two U+FFFD, so the body was longer than its
  // Content-Length.
  const body = `x${'é'.repeat(500_000)}`;
  await using server = await startUpstream((_, res) => res.end(body));
  expect((await exchangeRaw(server.url, rawRequest('GET /'))).endsWith(body)).toBe(true);
});
