// The files of parent programs that another resource has, too. Only the names in them differ, and the examples.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tool.ts';
import { capital, type Names } from './names.ts';
import type { Samples } from './samples.ts';

/** The rows of parent programs in the examples of the contract. */
const SHOWN_IDS = { full: '019c2291-34b8-752e-bca9-6513269e0d37', minimal: '019c4cee-335f-7a6a-8317-d23f128b2f33' };

type Own = { readonly names: Names; readonly samples: Pick<Samples, 'full' | 'minimal'> };

/** The file of parent programs, with the names of the other resource and the ids of its own rows. */
export async function copyOf(path: string, { names, samples: { full, minimal } }: Own): Promise<string> {
  const { plural, singular, types, type, nouns, noun, aNoun } = names;
  return (await readFile(join(root, path), 'utf8'))
    .replaceAll(SHOWN_IDS.full, full.id)
    .replaceAll(SHOWN_IDS.minimal, minimal.id)
    .replaceAll('parent_programs', plural)
    .replaceAll('parent_program', singular)
    .replaceAll('ParentPrograms', types)
    .replaceAll('ParentProgram', type)
    .replace(/\ba parent\s+program\b(?!s)/g, aNoun)
    .replace(/\bA parent\s+program\b(?!s)/g, capital(aNoun))
    .replace(/\bparent\s+programs\b/g, nouns)
    .replace(/\bParent\s+programs\b/g, capital(nouns))
    .replace(/\bparent\s+program\b/g, noun);
}
