import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { html } from '../../../src/html/html.ts';
import { runTool } from '../../tool.ts';
import { type Contract, originOf } from '../contract.ts';
import { DOWNLOADS } from '../downloads.ts';
import type { Guides } from '../guides.ts';
import { LANGUAGES } from '../samples/languages.ts';
import { readIcon, readTokens } from '../style.ts';
import { documentOf } from './document.ts';

const HERE = import.meta.dirname;

/** Redoc's settings. */
const OPTIONS = {
  hideDownloadButtons: true,
  hideSchemaTitles: true,
  jsonSamplesExpandLevel: 'all',
  sortRequiredPropsFirst: true,
  // Redoc shows only these languages. "Payload" is the request's body.
  codeSamples: { languages: [...LANGUAGES.map(({ label }) => ({ lang: label })), { lang: 'Payload' }] },
};

/** Redoc's page of the contract and the guides: one file that requests nothing from other hosts. */
export async function renderRedoc(root: string, contract: Contract, guides: Guides): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'charter-docs-'));
  try {
    const source = join(folder, 'openapi.json');
    const template = join(folder, 'template.hbs');
    const output = join(folder, 'index.html');
    const icon = await readIcon(root);
    await Promise.all([
      writeFile(source, JSON.stringify(documentOf(contract, guides, icon))),
      writeFile(template, await templateOf(root, contract, icon)),
    ]);
    const options = ['--template', template, '--openapi', JSON.stringify(OPTIONS), '--output', output];
    const remedy = 'The page cannot be built. Fix the problem above, in openapi/.';
    await runTool('redocly', ['build-docs', source, '--inlineBundle', ...options], remedy);
    return patched(await readFile(output, 'utf8'));
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const ROOT = ['<div id="redoc">', '</div>\n      <script type="module">'] as const;
const DEFINITION = ['const __redoc_definition = ', ';\n      const __redoc_options = '] as const;

const HYDRATE = "hydrate(__redoc_definition, __redoc_options, document.getElementById('redoc'));";
/** Lets the preview render another document in place of the first. */
const RENDER = `const render = (document, element) => init(document, { ...__redoc_options, hideLoading: true }, element);
      globalThis.redoc = { render, root: render(__redoc_definition, document.getElementById('redoc')) };`;

/** A page that was built before, with another document in JSON. Only the browser renders it, so this takes no time. */
export function withDocument(page: string, document: string): string {
  if (!page.includes(HYDRATE)) throw new Error(`Redocly's page does not contain this any more: ${HYDRATE}`);
  const empty = between(page, ROOT, '').replace(HYDRATE, () => RENDER);
  return between(empty, DEFINITION, document.replaceAll('<', '\\u003c'));
}

function between(page: string, [before, after]: readonly [string, string], content: string): string {
  const start = page.indexOf(before) + before.length;
  const end = page.indexOf(after, start);
  if (start < before.length || end < 0) throw new Error(`Redocly's page does not contain this any more: ${before}`);
  return page.slice(0, start) + content + page.slice(end);
}

async function templateOf(
  root: string,
  { document, info: { title, summary } }: Contract,
  icon: string,
): Promise<string> {
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
<link rel="alternate" href="plain.html" title="Version without JavaScript">
{{{redocHead}}}
<style>
:root {
${light}}
:root.dark {
${dark}}
${theme}</style>
</head>
<body data-title="${escaped(title)}">
<header class="published"><h1 class="heard">${escaped(title)}</h1>
<p>Server <code>${escaped(originOf(document))}</code></p>
<nav aria-label="Dashboard and downloads"><ul><li><a href="${escaped(originOf(document))}/">Dashboard</a></li>${DOWNLOADS.map(({ file, name }) => `<li><a href="${file}">${name}</a></li>`).join('')}<li><a href="plain.html">All on one page</a></li></ul></nav></header>
<noscript><p class="plain">This page needs JavaScript. Read the <a href="plain.html">version without JavaScript</a>.</p></noscript>
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

/** Redoc's page without requests to other hosts, with its search and its prerendered links corrected. */
function patched(page: string): string {
  const changes: readonly [what: string, from: string | RegExp, to: string][] = [
    ['the logo', 'https://cdn.redoc.ly/redoc/logo-mini-full.svg', 'data:,'],
    ['the small logo', 'https://cdn.redoc.ly/redoc/logo-mini.svg', 'data:,'],
    // Redoc's index finds sections that have one of the words, and misses some that have all of them.
    [
      'the search',
      /let n=await \w+\(this\._index,e\);return/g,
      'let n=new Set([...this._lowerDocuments].filter(([,d])=>t.words.every(w=>[d.title,d.text,d.httpMethod,d.httpPath,d.path,d.parameters].join("\\n").includes(w))).map(([i])=>i));return',
    ],
    ['the search for similar sections', /e\.has\(r\)\|\|\w+\(this\.lowered\(i\),i,t\)&&this/g, 'false&&this'],
    // The prerendered links are those of a site with many pages; on this page they are fragments.
    ['the links', /(<a [^>]*href=")\/(?=[a-z"])/g, '$1#/'],
  ];
  return changes.reduce((text, [what, from, to]) => {
    const changed = text.replaceAll(from, to);
    if (changed === text) throw new Error(`Redocly's page does not contain this any more: ${what}.`);
    return changed;
  }, page);
}
