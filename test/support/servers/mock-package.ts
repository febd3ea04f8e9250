import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pack } from '../../../scripts/client/build-package.ts';
import { buildMockPackage } from '../../../scripts/mock/package/pack-mock.ts';

/** The tarball that `npm run mock -- --pack` makes. */
export async function packMock(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-mock-'));
  try {
    await buildMockPackage(join(folder, 'mock'));
    return await readFile(await pack(join(folder, 'mock'), folder));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}
