export type Stop = {
  /** A signal, or the end of the process that started this one. A repeated signal changes nothing. */
  readonly reason: Promise<string>;
  isRequested(): boolean;
  /** From now on the log tells of a stop. Before, the start says so itself: it ends once what it has begun is whole. */
  started(): void;
};

export function requestedStop(): Stop {
  let [isRequested, isStarting] = [false, true];
  // The terminal may be gone, and is what ends it.
  process.stderr.on('error', () => {});
  const reason = new Promise<string>((resolve) => {
    const request = (why: string) => {
      if (isStarting && !isRequested)
        process.stderr.write('\nCharter stops. What its start has begun is finished first.\n');
      isRequested = true;
      resolve(why);
    };
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => request(signal));
    const orphaned = () => request('the parent process ended');
    // It may have ended while this one was starting; without a parent to listen to, this is undefined.
    if (process.connected === false) orphaned();
    process.once('disconnect', orphaned);
  });
  return {
    reason,
    isRequested: () => isRequested,
    started() {
      isStarting = false;
    },
  };
}
