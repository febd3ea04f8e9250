import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/**
 * A script that runs the full garbage collection of an idle V8, after which the heap may by default grow only by a tenth. Then
 * lists V8's flags.
 */
const SCRIPT = `import { setFlagsFromString } from 'node:v8';
import { tuneGarbageCollection } from './src/heap.ts';
tuneGarbageCollection();
setFlagsFromString('--trace-gc');
setFlagsFromString('--trace-gc-verbose');
gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
setFlagsFromString('--help');`;

/**
 * A script that lets many objects survive young collections, so that V8 would grow the young generation to 128 MiB. Prints its
 * largest size in MiB.
 */
const YOUNG = `import { setImmediate } from 'node:timers/promises';
import { getHeapSpaceStatistics } from 'node:v8';
import { limitYoungGeneration } from './src/heap.ts';
limitYoungGeneration();
let largest = 0;
for (let i = 0; i < 2000; i += 1) {
  globalThis.kept = i % 20 === 0 ? [] : globalThis.kept;
  for (let j = 0; j < 10000; j += 1) globalThis.kept.push([j]);
  await setImmediate();
  const { space_size: size } = getHeapSpaceStatistics().find((space) => space.space_name === 'new_space');
  largest = Math.max(largest, size / 1024 ** 2);
}
console.log(largest);`;

test('the young generation of a server grows to 32 MiB, or a step further', async () => {
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', YOUNG]);
  const mebibytes = Number(stdout);
  expect(mebibytes).toBeGreaterThanOrEqual(32);
  // V8 doubles the size, and can add a page. Without the limit, the size would be 128 MiB.
  expect(mebibytes).toBeLessThan(66);
});

test('the heap of a server may double, even after an idle period, in which V8 keeps the optimized code', async () => {
  const parameters = ['--expose-gc', '--input-type=module', '--eval', SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  expect(/Mark-Compact \(reduce\).*?\[HeapController\] factor (\S+)/s.exec(stdout)?.[1]).toBe('2.0');
  // V8 ignores flags that it does not know, so a flag could be without effect.
  const flag = /^ *--memory-reducer-favors-memory .*\n.*default: (\S+)/m.exec(stdout)?.[1];
  expect(flag).toBe('--no-memory-reducer-favors-memory');
});
