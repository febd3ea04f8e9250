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

test('the heap of a server may grow fourfold, even after an idle period, in which V8 keeps the optimized code', async () => {
  const parameters = ['--expose-gc', '--input-type=module', '--eval', SCRIPT];
  const { stdout } = await promisify(execFile)(process.execPath, parameters);
  expect(/Mark-Compact \(reduce\).*?\[HeapController\] factor (\S+)/s.exec(stdout)?.[1]).toBe('4.0');
  // V8 ignores flags that it does not know, so a flag could be without effect.
  const flag = /^ *--memory-reducer-favors-memory .*\n.*default: (\S+)/m.exec(stdout)?.[1];
  expect(flag).toBe('--no-memory-reducer-favors-memory');
});
