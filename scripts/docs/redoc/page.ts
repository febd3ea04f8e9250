import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { html } from '../../../src/dashboard/markup/html.ts';
import { runTool } from '../../tool.ts';
import type { Contract } from '../contract.ts';
import { documentOf } from '../document.ts';
import type { Guides } from '../guides.ts';
import { LANGUAGES } from '../samples/languages.ts';
import { readIcon, readTokens } from '../tokens.ts';

const HERE = import.meta.dirname;

/** What Redoc shows besides the document. */
const OPTIONS = {
  hideDownloadButtons: true,
  hideSchemaTitles: true,
  jsonSamplesExpandLevel: 'all',
  // Of two fields the one that must be sent is looked for first.
  sortRequiredPropsFirst: true,
  // A language that is not named here is left out. The payload is the body alone.
  codeSamples: { languages: [...LANGUAGES.map(({ label }) => ({ lang: label })), { lang: 'Payload' }] },
};

/** The page that Redoc makes of the contract and its guides: one file, which asks no host for anything. */
export async function renderRedoc(root: string, contract: Contract, guides: Guides): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-docs-'));
  try {
    const source = join(folder, 'openapi.json');
    const template = join(folder, 'template.hbs');
    const output = join(folder, 'index.html');
    const icon = await readIcon(root);
    await Promise.all([
      writeFile(source, JSON.stringify(documentOf(contract, guides, icon))),
      writeFile(template, await templateOf(root, contract.info, icon)),
    ]);
    const options = ['--template', template, '--openapi', JSON.stringify(OPTIONS), '--output', output];
    const remedy = 'The page cannot be built. Mend what is named, in openapi/.';
    await runTool('redocly', ['build-docs', source, '--inlineBundle', ...options], remedy);
    return mend(await readFile(output, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const ROOT = ['<div id="redoc">', '</div>\n      <script type="module">'] as const;
const DEFINITION = ['const __redoc_definition = ', ';\n      const __redoc_options = '] as const;

/** A page that was made before, with another document; the browser alone renders it, which takes no time here. */
export async function withDocument(root: string, page: string, contract: Contract, guides: Guides): Promise<string> {
  const document = JSON.stringify(documentOf(contract, guides, await readIcon(root))).replaceAll('<', '\\u003c');
  return between(between(page, ROOT, ''), DEFINITION, document);
}

function between(page: string, [before, after]: readonly [string, string], content: string): string {
  const start = page.indexOf(before) + before.length;
  const end = page.indexOf(after, start);
  if (start < before.length || end < 0) throw new Error(`Redocly's page is built in another way now: ${before}`);
  return page.slice(0, start) + content + page.slice(end);
}

async function templateOf(root: string, { title, summary }: Contract['info'], icon: string): Promise<string> {
  const [{ light, dark }, theme, repairs] = await Promise.all([
    readTokens(root),
    readFile(join(HERE, 'page.css'), 'utf8'),
    readFile(join(HERE, 'repairs.js'), 'utf8'),
  ]);
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(title)}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${escaped(summary)}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}" type="image/svg+xml">
<link rel="alternate" href="plain.html" title="Without JavaScript">
{{{redocHead}}}
<style>
:root {
${light}}
:root.dark {
${dark}}
${theme}</style>
</head>
<body>
<header class="heard"><h1>${escaped(title)}</h1></header>
<noscript><p class="plain">This page needs JavaScript. <a href="plain.html">The same without it</a>.</p></noscript>
{{{redocHTML}}}
<script type="module">
${repairs}</script>
</body>
</html>
`;
}

function escaped(text: string): string {
  return html`${text}`.toString();
}

/** Redoc's page, without what asks other hosts and with what its first picture of the page gets wrong. */
function mend(page: string): string {
  const changes: readonly [what: string, from: string | RegExp, to: string][] = [
    ['the logo', 'https://cdn.redoc.ly/redoc/logo-mini-full.svg', 'data:,'],
    ['the small logo', 'https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'],
    // The links of the markup are those of a site with a page for each; this page has them behind a hash.
    ['the links', /(<a [^>]*href=")\/(?=[a-z"])/g, '$1#/'],
  ];
  return changes.reduce((text, [what, from, to]) => {
    const changed = text.replaceAll(from, to);
    if (changed === text) throw new Error(`Redocly's page has no longer what was mended there: ${what}.`);
    return changed;
  }, page);
}
