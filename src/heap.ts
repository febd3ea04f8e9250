import { setFlagsFromString } from 'node:v8';

/** Of what a full garbage collection leaves: as far as V8 itself goes where there is much memory. */
const GROWING_PERCENT = 300;

/**
 * Has V8 let the heap grow fourfold between full garbage collections, and at most half-way to its bound. After a quiet
 * spell V8 by itself lets it grow by a tenth. What PostgreSQL sends counts as growth, but not in V8's reckoning of it, so
 * a busy server soon collected all of its heap again: up to eight times a second, and a page that is not in memory took
 * twice the time. V8 reads this after each full collection, so it may be set at any time.
 */
export function letHeapGrow(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWING_PERCENT}`);
}
