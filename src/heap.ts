import { setFlagsFromString } from 'node:v8';

/** About 23 days; for longer, V8's own sum overflows. */
const NEVER_MS = 2_000_000_000;

// V8's memory reducer collects what is left of a busy time, and from then on lets the heap grow by a few megabytes only. What
// PostgreSQL sends counts there, and grows by that much with every few hundred pages: after two quiet spells, a busy server
// collected its whole heap up to eight times a second, and a page not in memory took twice the time. So it does not start.
setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NEVER_MS}`);
