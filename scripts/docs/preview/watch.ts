import { watch } from 'node:fs';

/** Editors write a file in several steps. */
const SETTLE_MS = 30;

/** Calls `act` after each change below the folder, never twice at a time. Ends with `close`. */
export function onChange(folder: string, act: () => Promise<void>): { close(): void } {
  let timer: NodeJS.Timeout | undefined;
  let acting: Promise<void> = Promise.resolve();
  const watcher = watch(folder, { recursive: true }, () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      acting = acting.then(act);
    }, SETTLE_MS);
  });
  return {
    close() {
      clearTimeout(timer);
      watcher.close();
    },
  };
}
