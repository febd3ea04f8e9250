import { setFlagsFromString } from 'node:v8';

/** Of what a full garbage collection leaves; V8's own upper bound is three times, too. */
const GROWING_PERCENT = 300;

/**
 * Has V8 let the heap grow fourfold before it collects all of it. Left alone, V8 reckons from how fast objects get old, which
 * next to none do here, and leaves out what PostgreSQL sends, though that counts as growth: after a quiet spell a busy server
 * collected its whole heap up to eight times a second, for 8 MB each time, and a page that is not in memory took twice the
 * time. V8 reads this after each full collection, so it may be set at any time.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
