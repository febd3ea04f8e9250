import { once } from 'node:events';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { throwIfInterrupted } from './running.ts';

/** `tsc --noEmit` of a folder in a second or two instead of in ten. */
export type Compiler = {
  /** What it says of the folder as it is now. Empty: nothing is wrong. */
  check(): Promise<string>;
  stop(): Promise<unknown>;
};

/** Beside this thread, which has the other checks to look after. */
export function startCompiler(folder: string): Compiler {
  const worker = new Worker(join(import.meta.dirname, 'compiler-worker.ts'), { workerData: folder });
  return {
    async check() {
      throwIfInterrupted();
      worker.postMessage(null);
      const [said] = await once(worker, 'message');
      return String(said);
    },
    stop: () => worker.terminate(),
  };
}
