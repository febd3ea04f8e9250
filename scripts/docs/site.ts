// The published documentation: static files that link to each other. The files contain the URL of the server and the URL of the
// documentation.
import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build, type TransformOptions, transform } from 'esbuild';
import type { Assets, Site } from './frame.ts';
import type { Source } from './guides.ts';
import { operationPage } from './operation-page.ts';
import { allPage, guidePage, referencePage, startPage } from './pages.ts';
import { operationName } from './places.ts';
import { filesForPrograms } from './programs.ts';
import { searchIndexOf } from './search.ts';
import { readThemes } from './style.ts';

/** The files by path. A file is built when it is requested. */
export type SiteFiles = ReadonlyMap<string, () => string | Buffer>;

type SiteOptions = Pick<Site, 'server' | 'address' | 'support' | 'isServed'>;

const REDOC = 'node_modules/@redocly/cli/lib/chunks/redoc.standalone.js';

/** The page at the former URL of all.html. It redirects old links and bookmarks. */
const PLAIN =
  '<!doctype html><html lang="en"><meta charset="utf-8"><title>Moved</title><meta http-equiv="refresh" content="0; url=all.html"><a href="all.html">This page has moved.</a></html>\n';

export async function readSite(root: string, source: Source, options: SiteOptions): Promise<SiteFiles> {
  const assets = await readAssets(root, source.branding);
  // The script is an IIFE. Otherwise its functions would be global and replace those of site.js.
  const search = await readMinified(join(import.meta.dirname, 'assets/search.js'), { format: 'iife' });
  const names: Assets = new Map([...assets].map(([name, content]) => [name, hashedName(name, content)]));
  const site: Site = { source, assets: names, ...options };
  return new Map<string, () => string | Buffer>([
    ['index.html', () => startPage(site)],
    ...source.guides.map((guide): [string, () => string] => [`${guide.slug}.html`, () => guidePage(site, guide)]),
    ...[...source.contract.operations, ...source.contract.webhooks].map((each): [string, () => string] => [
      `${operationName(each)}.html`,
      () => operationPage(site, each),
    ]),
    ['reference.html', () => referencePage(site)],
    ['all.html', () => allPage(site)],
    ['plain.html', () => PLAIN],
    ['search.js', () => `${search}${searchData(source)}`],
    ['openapi.json', () => JSON.stringify(source.contract.document, null, 2)],
    // JSON is also valid YAML. The published files contain a more readable version.
    ['openapi.yaml', () => JSON.stringify(source.contract.document, null, 2)],
    ...filesForPrograms(site),
    ...[...source.images].map(([name, bytes]): [string, () => Buffer] => [name, () => bytes]),
    ...[...assets].map(([name, content]): [string, () => string] => [names.get(name) ?? name, () => content]),
  ]);
}

async function readMinified(file: string, options: TransformOptions = {}): Promise<string> {
  const { code } = await transform(await readFile(file, 'utf8'), { ...options, minify: true });
  return code;
}

function searchData(source: Source): string {
  return `globalThis.siteSearch = openSiteSearch(${JSON.stringify(searchIndexOf(source))});\n`;
}

async function readAssets(root: string, branding: Source['branding']): Promise<Map<string, string>> {
  const own = (name: string) => readFile(join(import.meta.dirname, 'assets', name), 'utf8');
  const [shared, css, js, referenceCss, operationCss, tryIt, referenceJs, icon, redoc] = await Promise.all([
    readThemes(root, branding),
    own('site.css'),
    own('site.js'),
    own('reference.css'),
    own('operation.css'),
    bundleTryIt(),
    own('reference.js'),
    readFile(join(root, 'src/dashboard/assets/icon.svg'), 'utf8'),
    readFile(join(root, REDOC), 'utf8'),
  ]);
  return new Map([
    ['site.css', shared + css],
    ['site.js', js],
    ['reference.css', referenceCss],
    ['operation.css', operationCss],
    ['try-it.js', tryIt],
    ['reference.js', referenceJs],
    ['icon.svg', icon],
    ['redoc.js', redoc],
  ]);
}

/** Returns the script of the form, bundled with the code that writes the code samples. */
async function bundleTryIt(): Promise<string> {
  const entry = join(import.meta.dirname, 'assets/try-it.js');
  const { outputFiles } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    format: 'esm',
    write: false,
  });
  const [bundled] = outputFiles;
  if (bundled === undefined) throw new Error(`${entry} has no bundle.`);
  return bundled.text;
}

/**
 * Returns a name such as "assets/site.0123abcd.css". The name changes with the content, so browsers may cache the file forever.
 */
function hashedName(name: string, content: string): string {
  const [stem, extension] = name.split('.');
  return `assets/${stem}.${hash('sha256', content, 'hex').slice(0, 12)}.${extension}`;
}
