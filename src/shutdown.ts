export type Shutdown = {
  /** Resolves with the reason at the first signal or request, or when the parent process ends. Later signals are ignored. */
  readonly reason: Promise<string>;
  isRequested(): boolean;
  /** Requests the shutdown from within the process. */
  request(reason: string): void;
  /** Says that the server has started. Until then, a request to stop is acknowledged on standard error. */
  markStarted(): void;
};

/**
 * Watches for signals and requests to stop. `requested` is the request of the process that started this one. If it is given,
 * signals are ignored: a signal to all processes of a terminal or service must not end this process while it still gets
 * connections.
 */
export function watchForShutdown(requested?: Promise<string>): Shutdown {
  let [isRequested, isStarting] = [false, true];
  // After SIGHUP, the terminal is gone. A failed write to it must not end the process.
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
  // The parent may have ended before this line. `connected` is `undefined` if this process has no IPC channel.
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
