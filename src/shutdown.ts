export type Shutdown = {
  /** Resolves with the reason on the first signal or request, or when the parent process ends. Later signals change nothing. */
  readonly reason: Promise<string>;
  isRequested(): boolean;
  /** Requests the shutdown from within. */
  request(reason: string): void;
  /** To be called when the server has started. Until then, a request to stop is acknowledged on standard error. */
  started(): void;
};

export function watchForShutdown(): Shutdown {
  let [isRequested, isStarting] = [false, true];
  // The terminal whose end is the signal can no longer be written to.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  const { promise: reason, resolve } = Promise.withResolvers<string>();
  const request = (why: string) => {
    if (isStarting && !isRequested)
      process.stderr.write('\nCharter is stopping. The current step is finished first.\n');
    isRequested = true;
    resolve(why);
  };
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP']) process.on(signal, () => request(signal));
  const onParentEnd = () => request('the parent process ended');
  // The parent may have ended before this line. Undefined: this process was started without an IPC channel.
  if (process.connected === false) onParentEnd();
  process.once('disconnect', onParentEnd);
  return {
    reason,
    isRequested: () => isRequested,
    request,
    started() {
      isStarting = false;
    },
  };
}
