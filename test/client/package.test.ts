import { readFile } from 'node:fs/promises';
import { join, posix } from 'node:path';
import { checkPackage } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { getPackedClient, packClient } from '../support/clients/client-package.ts';
import { operations } from '../support/contract/contract.ts';

/** The module systems of CommonJS, which cannot load the package: before Node 22, `require` cannot load an ES module. */
const OF_COMMONJS = new Set(['node10', 'node16-cjs']);

const packed = await getPackedClient();

const PARSER = 'node_modules/csv-parse/';

/** Returns what the file imports: the package's own files by path, and everything else by name. */
function importsOf(name: string): string[] {
  const imported = [...(packed.files.get(name) ?? '').matchAll(/\bfrom ['"]([^'"]+)['"]/g)].map(
    ([, from = '']) => from,
  );
  return imported.map((from) => (from.startsWith('.') ? posix.join(posix.dirname(name), from) : from));
}

/** Returns the file and everything that it imports, directly or indirectly. */
function loadedBy(name: string, found: ReadonlySet<string> = new Set([name])): string[] {
  const others = importsOf(name).filter((each) => !found.has(each));
  const all = new Set([...found, ...others]);
  return [...new Set([...all, ...others.flatMap((each) => loadedBy(each, all))])];
}

describe('the package', () => {
  test('contains only the files needed to use it', () => {
    const names = [...packed.files.keys()];
    expect(names).toEqual(
      expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'charter-client.js', 'openapi.d.ts']),
    );
    const own = names.filter((name) => !name.startsWith(PARSER));
    const isNeeded = /^(package\.json|README\.md|LICENSE|[a-z-]+\.(js|d\.ts)|import\/[a-z-]+\.js)$/;
    expect(own.filter((name) => !isNeeded.test(name))).toEqual([]);
  });

  test('contains of csv-parse exactly what the command loads, with its licence', () => {
    const loaded = loadedBy(`${PARSER}lib/index.js`).filter((name) => name.startsWith(PARSER));
    const names = [...packed.files.keys()].filter((name) => name.startsWith(PARSER));
    expect(names.toSorted()).toEqual([`${PARSER}LICENSE`, `${PARSER}package.json`, ...loaded].toSorted());
  });

  test('is small', () => {
    expect(packed.tarball.length).toBeLessThan((60 + operations.length) * 1024);
  });

  test('is identical, byte for byte, every time it is packed', async () => {
    const again = await packClient();
    expect(again.tarball.equals(packed.tarball)).toBe(true);
  });

  test('has the version of the contract, and one fixed dependency beside the parser that it brings along', async () => {
    const manifest = JSON.parse(packed.files.get('package.json') ?? '');
    expect(manifest).toMatchObject({ name: 'charter-client', type: 'module', sideEffects: false, license: 'MIT' });
    const contract = JSON.parse(await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
    expect(manifest.version).toBe(contract.info.version);
    const fixed = expect.stringMatching(/^\d+\.\d+\.\d+$/);
    expect(manifest.dependencies).toEqual({ 'csv-parse': fixed, 'openapi-fetch': fixed });
    expect(manifest.bundleDependencies).toEqual(['csv-parse']);
    expect(JSON.parse(packed.files.get(`${PARSER}package.json`) ?? '')).toMatchObject({
      version: manifest.dependencies['csv-parse'],
      license: 'MIT',
    });
    expect(manifest).not.toHaveProperty('scripts');
  });

  test('refers to no file outside itself, and to Node only in its command', () => {
    for (const [name, text] of packed.files) {
      if (!/\.(js|ts)$/.test(name) || name.startsWith(PARSER)) continue;
      const isCommand = name.startsWith('import/');
      const allowed = isCommand ? /^node:[a-z/]+$|^csv-parse$/ : /^openapi-fetch$/;
      for (const from of importsOf(name)) {
        const isInside = packed.files.has(from) || packed.files.has(from.replace(/\.js$/, '.d.ts'));
        expect({ name, from, isFine: isInside || allowed.test(from) }).toEqual({ name, from, isFine: true });
      }
      expect(text).not.toMatch(/sourceMappingURL|require\(/);
      if (!isCommand) expect({ name, text }).toEqual({ name, text: expect.not.stringMatching(/node:|process\./) });
    }
  });

  // Programs that only call the API load no code for webhooks, and programs that only receive events load no code for calls.
  test('has two entry points that load only their own code, and nothing of the command', () => {
    expect(loadedBy('charter-client.js').filter((name) => /^(webhook|import|csv-parse|node:)/.test(name))).toEqual([]);
    expect(loadedBy('webhooks.js').sort()).toEqual(['errors.js', 'webhooks.js']);
  });

  test('passes publint', async () => {
    const tarball = Uint8Array.from(packed.tarball).buffer;
    expect((await publint({ pack: { tarball }, strict: true })).messages).toEqual([]);
  });

  test('passes "are the types wrong" as an ES module', async () => {
    const result = await checkPackage(packed.contents);
    if (result.types === false) throw new Error('It has no types.');
    const problems = result.problems.filter(
      (each) => !('resolutionKind' in each && OF_COMMONJS.has(each.resolutionKind)),
    );
    expect(problems).toEqual([]);
  });
});
