import module from 'node:module';
import { join } from 'node:path';
import { RELEASE_VERSION } from './domain/release.ts';
import { limitYoungGeneration, tuneGarbageCollection } from './heap.ts';

if (process.argv[2] === '--version') {
  process.stdout.write(`${RELEASE_VERSION}\n`);
} else {
  tuneGarbageCollection();
  limitYoungGeneration();
  // Caches the compiled code of all modules that are loaded from here on, so that later starts are faster.
  module.enableCompileCache(join(import.meta.dirname, '../node_modules/.cache/compiled'));
  const { run } = await import('./run.ts');
  await run();
}
