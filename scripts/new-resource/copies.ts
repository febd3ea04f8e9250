// The files of parent programs that another resource has, too. Only the names in them differ, and the examples.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { root } from '../tool.ts';
import { capital, type Names } from './names.ts';

/** The row of parent programs in the examples of the contract. */
const SHOWN_ID = '019c2291-34b8-752e-bca9-6513269e0d37';

/** The file of parent programs, with the names of the other resource and the id of its own row. */
export async function copyOf(path: string, { names, shownId }: { names: Names; shownId: string }): Promise<string> {
  const { plural, singular, types, type, nouns, noun, aNoun } = names;
  return (await readFile(join(root, path), 'utf8'))
    .replaceAll(SHOWN_ID, shownId)
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
