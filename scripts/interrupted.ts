/** Rejects when this process is asked to stop, or when the `npm run` that started it is killed and closes the IPC channel. */
export function untilInterrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) {
      process.on(signal, () => {
        process.exitCode = 130;
        reject(new Error('Interrupted.'));
      });
    }
  });
}
