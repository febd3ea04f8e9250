import { mkdtempDisposable } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Creates a temporary folder that is removed at the end of the block: `await using folder = await openFolder();`. */
export const openFolder = () => mkdtempDisposable(join(tmpdir(), 'charter-test-'));

/** Creates a temporary folder that is removed after the tests of the file, and returns its path. */
export async function useFolder(): Promise<string> {
  const folder = await openFolder();
  afterAll(() => folder.remove());
  return folder.path;
}
