import type { Snapshot } from '../observability/metrics/metrics.ts';

/** From a worker to its supervisor. */
export type WorkerMessage =
  | { readonly kind: 'ready' }
  /** It begins its shutdown. */
  | { readonly kind: 'leaving' }
  /** It has the connection: the supervisor closes its own copy of the socket. */
  | { readonly kind: 'taken'; readonly id: number }
  | { readonly kind: 'metrics'; readonly id: number; readonly snapshot: Snapshot };

/** From the supervisor to a worker. They arrive in the order in which they were sent. */
export type SupervisorMessage =
  /** With the socket. */
  | { readonly kind: 'connection'; readonly id: number }
  | { readonly kind: 'read metrics'; readonly id: number }
  | { readonly kind: 'stop'; readonly reason: string }
  /** After `leaving`; if it is the supervisor that stops, after the time of DRAIN_SECONDS. */
  | { readonly kind: 'no more connections' };
