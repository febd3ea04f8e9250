import { setFlagsFromString } from 'node:v8';

/** About 23 days; for longer, V8 would add up more than its number holds. */
const NEVER_MS = 2_000_000_000;

/**
 * V8's memory reducer collects what is left of a busy time, and from then on lets the heap grow by a few megabytes only. What
 * PostgreSQL sends counts there, and is that much every few hundred pages: after two quiet spells a busy server collected
 * its whole heap up to eight times a second, and a page that is not in memory took twice the time. Called before anything is
 * served; V8 reads `--no-memory-reducer` only when it makes the heap, which is before any code of ours runs.
 */
export function keepMemoryReducerOff(): void {
  setFlagsFromString(`--gc-memory-reducer-start-delay-ms=${NEVER_MS}`);
}
