import { setFlagsFromString } from 'node:v8';

/** Heap growth limit, percent of live size. V8's own limit where there is much memory. */
const GROWTH_PERCENT = 300;

/**
 * Lets the heap grow to four times its live size between full garbage collections, at most half-way to its maximum size. After an
 * idle period V8 limits the growth to a tenth. Buffers of PostgreSQL's results count as growth but not as live size, so a busy
 * server ran up to eight full collections a second, and responses that are not cached took twice as long. V8 reads the flag after
 * each full collection, so it can be set at any time.
 */
export function raiseHeapGrowth(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
}
