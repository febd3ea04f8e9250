// The attack: guessing. Every secret in the source code is made with at least 128 random bits. test/api/strength.test.ts tests
// the secrets themselves.
import { basename } from 'node:path';
import { read, sourcesIn } from './support/contract/texts.ts';

const BYTES = 128 / 8;
const sources = sourcesIn('src').map((file) => ({ file, text: read(file) }));

/** Returns the number of bytes in each match of the pattern. */
function bytesOf(pattern: RegExp): number[] {
  return sources.flatMap(({ text }) =>
    [...text.matchAll(pattern)].map(([, size = '']) => Number(size) || sizeOf(size)),
  );
}

function sizeOf(constant: string): number {
  const [, size] = sources.flatMap(({ text }) => new RegExp(`const ${constant} = (\\d+);`).exec(text) ?? []);
  return Number(size);
}

test('random bytes are at least 16, except for nonces and ids of spans, which are no secrets', () => {
  const sizes = bytesOf(/(?:randomBytes|\bgetRandomValues\(new Uint8Array)\((?!NONCE_BYTES|SPAN_ID_BYTES)(\w+)\)/g);
  expect(sizes.length).toBeGreaterThanOrEqual(7);
  expect(sizes.filter((size) => !(size >= BYTES))).toEqual([]);
});

test('all random bytes are used', () => {
  const used = sources.flatMap(({ text }) => [...text.matchAll(/randomBytes\(\w+\)\.(\w+)/g)].map(([, then]) => then));
  // With "slice" or "subarray", a secret would have fewer random bytes.
  expect(new Set(used)).toEqual(new Set(['toString']));
});

test('Math.random decides the length of waits and which responses are validated, and nothing else', () => {
  const found = sources.filter(({ text }) => text.includes('Math.random')).map(({ file }) => basename(file));
  expect(found.toSorted()).toEqual([
    'attempt.ts',
    'deliveries.ts',
    'key-notices.ts',
    'response-check.ts',
    'sending.ts',
  ]);
});
