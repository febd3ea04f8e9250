import module from 'node:module';
import { join } from 'node:path';
import { tuneGarbageCollection } from './heap.ts';

tuneGarbageCollection();
// Caches what Node compiles from here on, which makes later starts faster.
module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));
const { run } = await import('./run.ts');
await run();
