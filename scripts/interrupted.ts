/** Rejects when the process is asked to stop. It is disconnected when `npm run` was killed. */
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
