// Finds the test files that a developer names, for `npm test -- NAME` and `npm run soak -- NAME`.
import { globSync } from 'node:fs';
import { root } from '../tool.ts';

/** The test files to run, and those that are left out because they take long. All paths start at the root of the checkout. */
type Named = { readonly files: readonly string[]; readonly leftOut: readonly string[] };
type Match = { readonly name: string; readonly file: string };

/**
 * Returns the test files whose paths contain a name. Leaves out files *.soak.ts, unless the name contains ".soak". Throws if no file
 * would run for a name.
 */
export function listNamedTests(names: readonly string[]): Named {
  const matches = listMatches(names, 'test/**/*.{test,soak}.ts');
  const toRun = matches.filter(({ name, file }) => !file.endsWith('.soak.ts') || name.includes('.soak'));
  const long = names.find((name) => toRun.every((match) => match.name !== name));
  if (long !== undefined)
    throw new Error(`Only files *.soak.ts match "${long}". Run them with: npm run soak -- ${long}`);
  const files = filesOf(toRun);
  return { files, leftOut: filesOf(matches).filter((file) => !files.includes(file)) };
}

/** Returns the files *.soak.ts whose paths contain a name. Throws if a name matches no file. */
export function listNamedSoaks(names: readonly string[]): string[] {
  return filesOf(listMatches(names, 'test/**/*.soak.ts'));
}

const filesOf = (matches: readonly Match[]) => [...new Set(matches.map(({ file }) => file))];

function listMatches(names: readonly string[], pattern: string): Match[] {
  const all = globSync(pattern, { cwd: root }).sort();
  return names.flatMap((name) => {
    const part = name.replace(`${root}/`, '').replace(/^\.\//, '');
    const files = all.filter((file) => file.includes(part));
    if (files.length === 0)
      throw new Error(`No file ${pattern} matches "${name}". Name a part of a path, such as test/api/list.test.ts.`);
    return files.map((file) => ({ name, file }));
  });
}
