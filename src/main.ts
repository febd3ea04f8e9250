import module from 'node:module';
import { join } from 'node:path';
import { letHeapGrow } from './heap.ts';

letHeapGrow();
// What Node compiles from here on it keeps for later starts, which take less.
module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));
const { run } = await import('./run.ts');
await run();
