// Finds the test files that a developer names, for `npm test -- NAME` and `npm run soak -- NAME`.
import { globSync } from 'node:fs';
import { root } from '../tool.ts';

/** The test files to run, and those that are left out because they take long. All paths start at the root of the checkout. */
type Named = { readonly files: readonly string[]; readonly leftOut: readonly string[] };

/**
 * Returns the test files whose paths contain a name. Leaves out files *.soak.ts, unless the name contains ".soak". Throws if a name
 * matches no file.
 */
export function findNamedTests(names: readonly string[]): Named {
  const all = findMatches(names, 'test/**/*.{test,soak}.ts');
  const isLeftOut = ([name, file]: readonly string[]) => isSoak(file ?? '') && !name?.includes('.soak');
  const files = new Set(all.filter((match) => !isLeftOut(match)).map(([, file = '']) => file));
  const leftOut = new Set(all.filter(isLeftOut).map(([, file = '']) => file));
  for (const name of names)
    if (all.every((match) => match[0] !== name || isLeftOut(match)))
      throw new Error(`Only files *.soak.ts match "${name}". Run them with: npm run soak -- ${name}`);
  return { files: [...files], leftOut: [...leftOut].filter((file) => !files.has(file)) };
}

/** Returns the files *.soak.ts whose paths contain a name. Throws if a name matches no file. */
export function findNamedSoaks(names: readonly string[]): string[] {
  return [...new Set(findMatches(names, 'test/**/*.soak.ts').map(([, file]) => file))];
}

const isSoak = (file: string) => file.endsWith('.soak.ts');

/** Returns each name with each file that it matches. */
function findMatches(names: readonly string[], pattern: string): [name: string, file: string][] {
  const all = globSync(pattern, { cwd: root }).sort();
  return names.flatMap((name) => {
    const part = name.replace(`${root}/`, '').replace(/^\.\//, '');
    const files = all.filter((file) => file.includes(part));
    if (files.length === 0)
      throw new Error(`No file ${pattern} matches "${name}". Name a part of a path, such as test/api/list.test.ts.`);
    return files.map((file): [string, string] => [name, file]);
  });
}
