import { setFlagsFromString } from 'node:v8';

/** How much the heap may grow, in percent of its live size. V8 has this limit where there is much memory. */
const GROWTH_PERCENT = 300;

/**
 * Keeps V8 from slowing down a server after an idle period. V8 reads both flags at each collection, so they can be set at any time.
 *
 * The heap may grow to four times its live size between full garbage collections, at most half-way to its maximum size. After an
 * idle period V8 limits the growth to a tenth. Buffers of PostgreSQL's results count as growth but not as live size, so a busy
 * server ran up to eight full collections a second, and responses that are not cached took twice as long.
 *
 * The collection that V8 runs when a server becomes idle keeps optimized code. By default V8 discards it then, which saves a few
 * megabytes, and in the seconds after an idle period a request took 1.5 times the processor time.
 */
export function tuneGarbageCollection(): void {
  setFlagsFromString(`--heap-growing-percent=${GROWTH_PERCENT}`);
  setFlagsFromString('--no-memory-reducer-favors-memory');
}
