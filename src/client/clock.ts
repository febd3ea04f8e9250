/** Time and chance, as an argument, so that a test can decide about them. */
export type Clock = {
  /** Milliseconds since some fixed moment. */
  now(): number;
  /** From 0 to 1. */
  random(): number;
  /** Rejects with the signal's reason as soon as it is given. */
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
