// Finds all modules that programs can load, starting with their entry points, and prints the paths as JSON. Runs in a process of
// its own, because Node resolves the imports of another file only with the flag --experimental-import-meta-resolve.
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, isBuiltin, stripTypeScriptTypes } from 'node:module';
import { fileURLToPath, pathToFileURL } from 'node:url';
import ts from 'typescript';
import type { Trace } from './traced.ts';

process.stdout.write(JSON.stringify(trace(process.argv.slice(2))));

/** Returns what the entry points can load, as absolute paths. */
function trace(entries: readonly string[]): Trace {
  const [files, places] = [new Set(entries), new Set<string>()];
  const missing: { file: string; specifier: string }[] = [];
  const computed: { file: string; code: string }[] = [];
  // The loop also visits the files that are added to the set meanwhile.
  for (const file of files) {
    if (!/\.[cm]?[jt]s$/.test(file)) continue;
    for (const load of loadsIn(file)) {
      if (load.specifier === null) computed.push({ file, code: load.code });
      else if (!isBuiltin(load.specifier)) {
        const target = resolve(file, load.specifier, load.kind === 'import');
        if (target === null) missing.push({ file, specifier: load.specifier });
        else (load.kind === 'place' ? places : files).add(target);
      }
    }
  }
  return { files: [...new Set([...files, ...places])], missing, computed };
}

type Load = {
  /** The specifier; `null` if the program computes it at run time. */
  readonly specifier: string | null;
  /** The source text of the specifier's expression. */
  readonly code: string;
  /** "place" means that the program does not load the file, but resolves its path to find its folder. */
  readonly kind: 'import' | 'require' | 'place';
};

function loadsIn(file: string): Load[] {
  const text = readFileSync(file, 'utf8');
  // Removes imports of types, which Node does not load either.
  const code = /\.[cm]?ts$/.test(file) ? stripTypeScriptTypes(text) : text;
  const tree = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true, ts.ScriptKind.JS);
  const loads: Load[] = [];
  const add = (what: ts.Expression | undefined, kind: Load['kind']) => {
    if (what === undefined) return;
    loads.push({ specifier: ts.isStringLiteralLike(what) ? what.text : null, code: what.getText(tree), kind });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) add(node.moduleSpecifier, 'import');
    if (ts.isCallExpression(node)) {
      const [what] = node.arguments;
      const called = node.expression.getText(tree);
      if (called === 'import') add(what, 'import');
      else if (/^(__)?require(\.resolve)?$/.test(called)) add(what, 'require');
      else if (/^createRequire\(import\.meta\.url\)\.resolve$/.test(called)) add(what, 'place');
    }
    ts.forEachChild(node, visit);
  };
  visit(tree);
  return loads;
}

/** Returns the path of the module; `null` if there is no such file. */
function resolve(file: string, specifier: string, isImport: boolean): string | null {
  try {
    if (!isImport) return createRequire(file).resolve(specifier);
    const target = fileURLToPath(import.meta.resolve(specifier, pathToFileURL(file).href));
    return existsSync(target) ? target : null;
  } catch {
    return null;
  }
}
