import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPackage } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { operations } from '../support/contract/contract.ts';
import { getPackedClient, packClient } from '../support/http/client-package.ts';

/** `require` in Node before 22 cannot load an ES module; the package declares that it is one. */
const OF_COMMONJS = new Set(['node10', 'node16-cjs']);

const packed = await getPackedClient();

/** The file and all that it imports, packages included. */
function loadedBy(name: string, found: ReadonlySet<string> = new Set([name])): string[] {
  const imports = [...(packed.files.get(name) ?? '').matchAll(/\bfrom ['"](?:\.\/)?([^'"]+)['"]/g)].map(
    ([, from = '']) => from,
  );
  const others = imports.filter((each) => !found.has(each));
  const all = new Set([...found, ...others]);
  return [...new Set([...all, ...others.flatMap((each) => loadedBy(each, all))])];
}

describe('the package', () => {
  test('contains only the files needed to use it', () => {
    const names = [...packed.files.keys()];
    expect(names).toEqual(
      expect.arrayContaining(['package.json', 'README.md', 'LICENSE', 'charter-client.js', 'openapi.d.ts']),
    );
    expect(names.filter((name) => !/^(package\.json|README\.md|LICENSE|[a-z-]+\.(js|d\.ts))$/.test(name))).toEqual([]);
  });

  test('is small', () => {
    expect(packed.tarball.length).toBeLessThan((24 + operations.length) * 1024);
  });

  test('is identical, byte for byte, every time it is packed', async () => {
    const again = await packClient();
    expect(again.tarball.equals(packed.tarball)).toBe(true);
  });

  test('has the version of the contract, and a fixed version of openapi-fetch as its only dependency', async () => {
    const manifest = JSON.parse(packed.files.get('package.json') ?? '');
    expect(manifest).toMatchObject({ name: 'charter-client', type: 'module', sideEffects: false, license: 'MIT' });
    const contract = JSON.parse(await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
    expect(manifest.version).toBe(contract.info.version);
    expect(manifest.dependencies).toEqual({ 'openapi-fetch': expect.stringMatching(/^\d+\.\d+\.\d+$/) });
    expect(manifest).not.toHaveProperty('scripts');
  });

  test('refers to no file outside itself', () => {
    for (const [name, text] of packed.files) {
      const imported = [...text.matchAll(/\bfrom ['"]([^'"]+)['"]/g)].map(([, from]) => from ?? '');
      if (!/\.(js|ts)$/.test(name)) continue;
      for (const from of imported) {
        const isInside =
          packed.files.has(from.replace(/^\.\//, '')) || packed.files.has(from.replace(/^\.\/(.+)\.js$/, '$1.d.ts'));
        expect({ name, from, isFine: isInside || from === 'openapi-fetch' }).toEqual({ name, from, isFine: true });
      }
      expect(text).not.toMatch(/sourceMappingURL|node:|process\.|require\(/);
    }
  });

  // Programs that only call Charter load nothing of the webhooks, and those that only receive events nothing of the calls.
  test('has two entry points that load only their own code', () => {
    expect(loadedBy('charter-client.js').filter((name) => name.startsWith('webhook'))).toEqual([]);
    expect(loadedBy('webhooks.js').sort()).toEqual([
      'errors.js',
      'webhook-errors.js',
      'webhook-signature.js',
      'webhooks.js',
    ]);
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
