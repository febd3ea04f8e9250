/** Time and random numbers, which tests replace. */
export type Clock = {
  /** Milliseconds since a fixed moment. */
  now(): number;
  /** 0 or more and below 1. */
  random(): number;
  /** Rejects with the signal's reason as soon as the signal is aborted. */
  wait(milliseconds: number, signal: AbortSignal | undefined): Promise<void>;
};

export const realClock: Clock = {
  now: () => performance.now(),
  random: () => Math.random(),
  wait: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      signal?.throwIfAborted();
      const abort = () => {
        clearTimeout(timer);
        reject(signal?.reason);
      };
      const timer = setTimeout(() => {
        signal?.removeEventListener('abort', abort);
        resolve();
      }, milliseconds);
      signal?.addEventListener('abort', abort, { once: true });
    }),
};
