export type Shutdown = {
  /**
   * Resolves with the reason for the shutdown: the first signal or request, or the end of the parent process. Later signals are
   * ignored.
   */
  readonly reason: Promise<string>;
  isRequested(): boolean;
  /** Requests the shutdown from within this process. */
  request(reason: string): void;
  /** Marks the server as started. Before that, a request to stop is acknowledged on standard error. */
  markStarted(): void;
};

/**
 * Watches for signals and requests to stop. `requested` resolves when the parent process requests a stop. If it is given, signals
 * are ignored, because a signal to all processes of a terminal or service must not end this process while the parent still hands
 * over connections.
 */
export function watchForShutdown(requested?: Promise<string>): Shutdown {
  let [isRequested, isStarting] = [false, true];
  // After SIGHUP, the terminal is gone, and a failed write to the terminal must not end the process.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { promise: reason, resolve } = Promise.withResolvers<string>();
  const request = (why: string) => {
    if (isStarting && !isRequested && requested === undefined)
      process.stderr.write('\nCharter is stopping. The current step is finished first.\n');
    isRequested = true;
    resolve(why);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(signal, () => requested === undefined && request(signal));
  requested?.then(request);
  const onParentEnd = () => request('the parent process ended');
  // The parent process may have ended before this line. `connected` is `undefined` if this process has no IPC channel.
  if (process.connected === false) onParentEnd();
  process.once('disconnect', onParentEnd);
  return {
    reason,
    isRequested: () => isRequested,
    request,
    markStarted() {
      isStarting = false;
    },
  };
}
