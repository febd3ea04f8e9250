import { readFile } from 'node:fs/promises';
import { readDocument } from '../../../src/contract/contract.ts';
import type { Assets } from '../assets.ts';

/** The files that `pack-mock.ts` puts beside the bundle. It is as deep as the sources, so both find `generated`. */
export async function readAssets(): Promise<Assets> {
  const [document, page] = await Promise.all([readDocument(), readFile(new URL('page.json', import.meta.url), 'utf8')]);
  const yaml = () => readFile(new URL('../../generated/openapi.yaml', import.meta.url), 'utf8');
  return { document, yaml, ...JSON.parse(page) };
}
