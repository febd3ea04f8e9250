// The frame of every page of the site: the head, the header and the contents.
import { type Html, html } from '../../src/html/html.ts';
import { LOGO } from '../../src/html/icons.ts';
import type { Source } from './guides.ts';
import { operationName } from './places.ts';
import { plain } from './text.ts';

/** Files with a hash of their content in their names, by the name without the hash. */
export type Assets = ReadonlyMap<string, string>;

/** What all pages need besides their content. */
export type Site = {
  readonly source: Source;
  readonly assets: Assets;
  /** The server's URL as the pages show it, without a slash at the end. */
  readonly server: string;
  /** The URL of the documentation, without a slash at the end. */
  readonly address: string;
  /**
   * The URL at which readers get support, or a placeholder that the server replaces; `null` if the pages contain no such link.
   */
  readonly support: string | null;
  /** Whether an API server serves the pages. The pages can then send requests to that server. */
  readonly isServed: boolean;
};

type Page = {
  /** The name of the page's file without ".html". */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  /** The name of the page's Markdown file; `null` if there is no such file. */
  readonly markdown: string | null;
  readonly content: Html;
  /** Further elements of the head. */
  readonly head?: Html;
  /** Whether the page has scripts. The default is true. */
  readonly isScripted?: boolean;
};

/** Returns the title of the site, such as "Charter API". The name in it comes from branding.yaml if that file has a name. */
export function titleOf(site: Site): string {
  return site.source.branding.has('name') ? `${nameOf(site)} API` : site.source.contract.info.title;
}

export function nameOf({ source: { branding } }: Site): string {
  return branding.get('name') ?? 'Charter';
}

/** Returns the URL of a page. The URL ends in ".html" unless an API server serves the pages. */
export function addressOf({ address, isServed }: Site, name: string): string {
  if (!isServed) return `${address}/${name}.html`;
  return name === 'index' ? address : `${address}/${name}`;
}

export function renderPage(site: Site, page: Page): string {
  const { name, title, description, markdown, content, head, isScripted = true } = page;
  const brand = nameOf(site);
  const url = addressOf(site, name);
  const whole = name === 'index' ? title : `${title} - ${brand}`;
  const text = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${whole}</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${description}">
<meta name="color-scheme" content="light dark">
<link rel="canonical" href="${url}">
<meta property="og:type" content="article">
<meta property="og:site_name" content="${titleOf(site)}">
<meta property="og:title" content="${title}">
<meta property="og:description" content="${description}">
<meta property="og:url" content="${url}">
<link rel="icon" href="${site.assets.get('icon.svg')}" type="image/svg+xml">
${markdown !== null && html`<link rel="alternate" type="text/markdown" href="${markdown}">`}
<link rel="stylesheet" href="${site.assets.get('site.css')}">
${head}${isScripted && html`<script src="${site.assets.get('site.js')}"></script>`}
</head>
<body data-page="${name}">
<a class="skip" href="#main">Skip to the content</a>
<header class="head">${name === 'reference' && html`<h1 class="unseen">${title}</h1>`}<a class="brand" href="index.html">${logoOf(site)}${brand} <span>API</span></a>
${name !== 'all' && html`<button class="menu"${name !== 'reference' && html` popovertarget="contents"`}>Contents</button>`}
${isScripted && html`<button id="find" class="scripted"><span>Search</span><kbd>/</kbd></button>`}
<nav aria-label="Site"><a href="reference.html">Reference</a><a href="${site.server}/">Dashboard</a>
${site.support !== null && html`<a href="${site.support}">Support</a>`}
</nav>
${isScripted && html`<button id="theme" class="scripted" aria-label="Dark theme" aria-pressed="false">◐</button>`}</header>
${content}
</body>
</html>
`.toString();
  // In a page in a folder, relative links lead to files beside that folder.
  return name.includes('/') ? text.replace(/ (href|src)="(?![a-z]+:|[#/"])/g, ' $1="../') : text;
}

function logoOf({ source: { branding } }: Site): Html {
  const logo = branding.get('logo');
  return logo === undefined ? LOGO : html`<img src="${logo}" alt="" width="26" height="26">`;
}

/** Returns the table of contents, with a link to each page of the site. On a phone, a button in the header opens it. */
export function contentsOf({ source: { contract, guides } }: Site, here: string): Html {
  const entry = (name: string, title: string) =>
    html`<li><a href="${name}.html"${name === here && html` aria-current="page"`}>${title}</a></li>`;
  const groups = [...Map.groupBy(guides, ({ group }) => group)];
  const operations = [...Map.groupBy([...contract.operations, ...contract.webhooks], ({ tags: [tag = ''] }) => tag)];
  return html`<nav id="contents" class="contents" popover aria-label="Contents">${groups.map(
    ([group, listed]) =>
      html`<h2>${group}</h2><ul>${listed.map(({ slug, title }) => entry(slug, title))}${
        group === 'Reference' &&
        html`${entry('reference', 'Operations and webhooks')}${entry('all', 'Everything on one page')}`
      }</ul>`,
  )}${operations.map(
    ([tag, listed]) =>
      html`<h2>${tag}</h2><ul>${listed.map((each) => entry(operationName(each), plain(each.summary)))}</ul>`,
  )}</nav>`;
}
