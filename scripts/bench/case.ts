import type { Load } from './load.ts';
import type { RunningServer } from './servers.ts';

/** A row of the table. */
export type Case = {
  readonly title: string;
  readonly subject: Load;
  /** The load whose rate the subject's rate is divided by. */
  readonly base: { readonly title: string; readonly load: Load };
  /** The bench fails if the ratio is lower. */
  readonly floor: number;
  /** The responses of subject and base must have the same rows. */
  readonly sameRows?: boolean;
  /** The expected id of the subject's first row. */
  readonly firstId?: string;
  /** Makes the subject the first five seconds after the server was idle for this time, and the base five seconds later. */
  readonly idleSeconds?: number;
};

export type Servers = {
  readonly charter: RunningServer;
  /** Without the response cache. */
  readonly uncached: RunningServer;
  /** Validates one response in a hundred. */
  readonly sampling: RunningServer;
  /** With a contract of 1,000 operations. */
  readonly vast: RunningServer;
  readonly raw: RunningServer;
};
