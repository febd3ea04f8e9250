// The contract into which the release tests plant changes. It is their own, so that the tests do not depend on the real one.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Json } from '../../../src/contract/document.ts';

export const contract: Json = JSON.parse(readFileSync(join(import.meta.dirname, 'contract.json'), 'utf8'));
