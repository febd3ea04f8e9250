import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { withScratchDatabase } from '../support/postgres/postgres.ts';
import { withCharter } from '../support/processes/charter.ts';

/**
 * On a signal, runs the full collection that V8 makes in an idle period, after which a heap may grow by only a tenth.
 */
const COLLECTING = `import { setFlagsFromString } from 'node:v8';
setFlagsFromString('--trace-gc');
setFlagsFromString('--trace-gc-verbose');
process.once('SIGUSR2', () => {
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  process.exit(); // flushes V8's output
});`;

test('the heap of a server may grow fourfold, even after an idle period', async () => {
  const NODE_OPTIONS = `--expose-gc --import data:text/javascript,${encodeURIComponent(COLLECTING)}`;
  await withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, NODE_OPTIONS }, async (charter) => {
      charter.child.kill('SIGUSR2');
      const { stdout } = await charter.ended;
      expect(/Mark-Compact \(reduce\).*?\[HeapController\] factor (\S+)/s.exec(stdout)?.[1]).toBe('4.0');
    }),
  );
});

/** Prints each flag of V8 with its value. */
const LISTING_FLAGS = `import { setFlagsFromString } from 'node:v8';
import { tuneGarbageCollection } from './src/heap.ts';
tuneGarbageCollection();
setFlagsFromString('--help');`;

test('V8 keeps the optimized code of an idle server', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', LISTING_FLAGS]);
  // V8 ignores a flag that it does not know.
  expect(/^ *--memory-reducer-favors-memory .*\n.*default: (\S+)/m.exec(stdout)?.[1]).toBe(
    '--no-memory-reducer-favors-memory',
  );
});
