import { withCharter } from '../support/charter.ts';
import { withScratchDatabase } from '../support/postgres.ts';

/** At a signal, collects all as V8 does in a quiet spell, after which it lets a heap grow by a tenth only; and tells of it. */
const COLLECTING = `import { setFlagsFromString } from 'node:v8';
setFlagsFromString('--trace-gc');
setFlagsFromString('--trace-gc-verbose');
process.once('SIGUSR2', () => {
  gc({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  process.exit(); // Which flushes what V8 has printed.
});`;

test('the heap of a server may grow fourfold after a quiet spell, too', async () => {
  const NODE_OPTIONS = `--expose-gc --import data:text/javascript,${encodeURIComponent(COLLECTING)}`;
  await withScratchDatabase((DATABASE_URL) =>
    withCharter({ DATABASE_URL, NODE_OPTIONS }, async (charter) => {
      charter.child.kill('SIGUSR2');
      const { stdout } = await charter.ended;
      expect(/Mark-Compact \(reduce\).*?\[HeapController\] factor (\S+)/s.exec(stdout)?.[1]).toBe('4.0');
    }),
  );
});
