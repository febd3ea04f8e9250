import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';

// V8 says nothing of a flag that it does not know.
test('V8 knows the flag that keeps its memory reducer off', () => {
  expect(execFileSync(process.execPath, ['--v8-options'], { encoding: 'utf8' })).toContain(
    '--gc-memory-reducer-start-delay-ms',
  );
});
