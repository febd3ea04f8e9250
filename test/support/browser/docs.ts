import { join } from 'node:path';
import { readContract } from '../../../scripts/docs/contract.ts';
import { readSource } from '../../../scripts/docs/guides.ts';

const ROOT = join(import.meta.dirname, '../../..');

export const contract = await readContract(join(ROOT, 'generated/openapi.json'));
export const source = await readSource(ROOT, contract);
