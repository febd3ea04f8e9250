import { join } from 'node:path';
import { runNpm } from '../tool.ts';

/** Packs the package in `folder` with npm, offline. Returns the path of the tarball in `destination`. */
export async function pack(folder: string, destination: string): Promise<string> {
  const [{ filename }] = JSON.parse(
    await runNpm(['pack', '--json', '--ignore-scripts', '--pack-destination', destination], folder),
  );
  return join(destination, filename);
}
