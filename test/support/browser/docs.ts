import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readContract } from '../../../scripts/docs/contract.ts';
import { readGuides } from '../../../scripts/docs/guides.ts';

const ROOT = join(import.meta.dirname, '../../..');

/** The built pages as files, which a browser opens without a server. */
export const BUILT = pathToFileURL(join(ROOT, 'generated/docs/')).href;

export const contract = await readContract(join(ROOT, 'generated/openapi.json'));
export const guides = await readGuides(ROOT);
