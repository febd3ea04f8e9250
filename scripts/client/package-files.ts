// Files that all packages for integrators have: charter-client, charter-mock and charter-mcp.
import { copyFile, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tool.ts';

/**
 * Writes package.json, the license, and the README with the version of the package. `readme` is the path of the README in this
 * checkout.
 */
export async function describePackage(
  folder: string,
  { manifest, readme }: { readonly manifest: { readonly version: string }; readonly readme: string },
): Promise<void> {
  const text = await readFile(join(root, readme), 'utf8');
  await copyFile(join(root, 'LICENSE'), join(folder, 'LICENSE'));
  await writeFile(join(folder, 'README.md'), text.replaceAll('<version>', manifest.version));
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
}
