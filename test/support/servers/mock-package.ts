import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pack } from '../../../scripts/client/build-package.ts';
import { buildMockPackage } from '../../../scripts/mock/package/pack-mock.ts';
import { openFolder } from '../folder.ts';

/** The tarball that `npm run mock -- --pack` makes. */
export async function packMock(): Promise<Buffer> {
  await using folder = await openFolder();
  await buildMockPackage(join(folder.path, 'mock'));
  return await readFile(await pack(join(folder.path, 'mock'), folder.path));
}
