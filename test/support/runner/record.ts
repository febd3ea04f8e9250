// Notes which files of the program the functions belong to that a test file executes, for `npm test -- --changed`.
import { mkdirSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = join(import.meta.dirname, '../../..');

let profiler: Promise<Session> | undefined;

/** Begins to count for a test file. Returns the function that writes the names of the files, relative to the root, as JSON. */
export async function recordExecution(testFile: string, folder: string): Promise<() => Promise<void>> {
  profiler ??= startProfiler();
  const session = await profiler;
  // Forgets what was executed before.
  await session.post('Profiler.takePreciseCoverage');
  return async () => {
    const { result } = await session.post('Profiler.takePreciseCoverage');
    const own = result.filter(({ url }) => url.startsWith('file:') && !url.includes('/node_modules/'));
    const executed = own.filter(({ functions }) =>
      // The first one is the module itself, which runs when it is loaded.
      functions.slice(1).some(({ ranges: [range] }) => (range?.count ?? 0) > 0),
    );
    const names = executed.map(({ url }) => relative(ROOT, fileURLToPath(url)));
    const file = join(folder, `${relative(ROOT, testFile)}.json`);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify(names.filter((name) => !name.startsWith('test/')).sort()));
  };
}

async function startProfiler(): Promise<Session> {
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  return session;
}
