import { raw } from 'hono/html';
import type { Json, Operation, Webhook } from '../../src/contract/document.ts';
import { type Html, html } from '../../src/html/html.ts';
import { exampleUrlOf, introductionOf, originOf } from './contract.ts';
import { contentsOf, nameOf, renderPage, type Site, titleOf } from './frame.ts';
import type { Guide } from './guides.ts';
import { guidePlace, ON_ONE_PAGE, ON_PAGES, operationPlace, schemaPlace, tagPlace, withLinks } from './places.ts';
import { headersMarkdown, operationMarkdown, schemaMarkdown } from './reference.ts';
import { LANGUAGES, samplesOf } from './samples/languages.ts';
import { plain, text } from './text.ts';

/** Returns the first sentences of a guide, at most 200 characters, for search engines, link previews and AI agents. */
export function summaryOf({ text: source }: Pick<Guide, 'text'>): string {
  const paragraph = plain(source.trim().split(/\n[ \t]*\n/, 1)[0] ?? '').replace(/:$/, '.');
  const [first = paragraph, ...others] = paragraph.match(/.+?[.!?](?= |$)/g) ?? [];
  let summary = first;
  for (const sentence of others) {
    if (`${summary}${sentence}`.length > 200) break;
    summary += sentence;
  }
  return summary;
}

export function guidePage(site: Site, guide: Guide): string {
  const { guides } = site.source;
  const at = guides.indexOf(guide);
  const headings = guide.headings.filter(({ level }) => level === 2 || level === 3);
  const neighbour = (label: string, other: Guide | undefined) =>
    other && html`<a href="${other.slug}.html"><span>${label}</span>${other.title}</a>`;
  const content = html`<div class="frame">
${contentsOf(site, guide.slug)}
<main id="main" tabindex="-1">
<h1>${guide.title}</h1>
${
  headings.length > 1 &&
  html`<details class="toc"><summary>On this page</summary><ul>${headings.map(
    ({ level, anchor, text: words }) =>
      html`<li class="level-${level}"><a href="#${anchor}">${plain(`# ${words}`)}</a></li>`,
  )}</ul></details>`
}
<div>${text(withLinks(guide, site.source, ON_PAGES), { idOf: (anchor) => anchor })}
<nav class="neighbours" aria-label="Previous and next">${neighbour('Previous', guides[at - 1])}${neighbour('Next', guides[at + 1])}</nav>
<footer><a href="${guide.slug}.md">This page as Markdown</a></footer></div>
</main>
</div>`;
  const { slug, title } = guide;
  return renderPage(site, { name: slug, title, description: summaryOf(guide), markdown: `${slug}.md`, content });
}

/** Returns the Markdown of the start page: how to get a key and make the first request, and the guides by task. */
export function startMarkdown({ source: { contract, guides }, server }: Site): string {
  const reference = [...contract.operations, ...contract.webhooks].map(({ operationId, summary }) => {
    return { slug: `reference/${operationId}`, title: summary, group: 'Reference' };
  });
  const listed = [...guides, ...reference];
  const groups = [...Map.groupBy(listed, ({ group }) => group)];
  return `${introductionOf(contract)}

## Get a key

Sign in to the [dashboard](${server}/) and create an API key under **My profile**, **API keys**. [Issuing a key](issuing-a-key.md) shows every step.

## Make the first call

It works with every key, and returns what the key may do:

\`\`\`sh
curl -H "Authorization: Bearer <API_KEY>" \\
  "${server}/api/key"
\`\`\`

[Getting started](getting-started.md) goes on from here, in two minutes.

## Choose your task

${groups.map(([group, each]) => `### ${group}\n\n${each.map(({ slug, title }) => `- [${title}](${slug}.md)`).join('\n')}`).join('\n\n')}
`;
}

export function startPage(site: Site): string {
  const { info } = site.source.contract;
  const [before = '', groups = ''] = startMarkdown(site)
    .replace(/\]\(([\w/-]+)\.md\)/g, ']($1.html)')
    .split('## Choose your task');
  const [, ...cards] = groups.split('### ');
  const content = html`<div class="frame">
${contentsOf(site, 'index')}
<main id="main" tabindex="-1">
<h1>${titleOf(site)} <span class="version">${info.version}</span></h1>
${text(before)}
<h2>Choose your task</h2>
<div class="cards">${cards.map((card) => html`<section>${text(`### ${card}`)}</section>`)}
<section><h3>Tools</h3><ul>${DOWNLOADS.map(({ file, name }) => html`<li><a href="${file}">${name}</a></li>`)}<li><a href="llms.txt">llms.txt, for coding agents</a></li></ul></section></div>
</main>
</div>`;
  const title = `${titleOf(site)} documentation`;
  return renderPage(site, { name: 'index', title, description: info.summary, markdown: 'index.md', content });
}

/** Returns the page with Redoc. Without JavaScript, the page shows a list of the operations. */
export function referencePage(site: Site): string {
  const { contract } = site.source;
  const all = [...contract.operations, ...contract.webhooks];
  const document = JSON.stringify(redocDocument(site))
    .replaceAll(originOf(contract.document), site.server)
    .replaceAll('<', '\\u003c');
  const content = html`<div id="redoc"><main id="main" class="unrendered" tabindex="-1">
<noscript><p>This page needs JavaScript. <a href="all.html">Everything on one page</a> does not.</p></noscript>
<ul>${all.map((each) => html`<li><a href="all.html#${operationPlace(each)}">${each.summary}</a></li>`)}</ul></main></div>
<script type="application/json" id="document">${raw(document)}</script>`;
  const head = html`<link rel="stylesheet" href="${site.assets.get('reference.css')}">
<link rel="modulepreload" href="${site.assets.get('redoc.js')}">
<script type="module" src="${site.assets.get('reference.js')}" data-redoc="${site.assets.get('redoc.js')}" data-languages="${LANGUAGES.map(({ label }) => label).join()}"></script>
`;
  const description = `Every operation and webhook of the ${contract.info.title}, with parameters, responses and code samples.`;
  return renderPage(site, {
    name: 'reference',
    title: 'Reference',
    description,
    markdown: 'reference.md',
    content,
    head,
  });
}

/**
 * Returns the page with all guides and the reference. It has no scripts, so that every browser can show it, print it and search
 * in it.
 */
export function allPage(site: Site): string {
  const { contract, guides } = site.source;
  const entry = (place: string, name: string) => html`<li><a href="#${place}">${name}</a></li>`;
  const ofTag = (tag: string) => [...contract.operations, ...contract.webhooks].filter(({ tags }) => tags[0] === tag);
  const placeOf = (name: string) => `#${schemaPlace(name)}`;
  const schemas = Object.entries(contract.schemas);
  const content = html`<div class="frame">
<nav class="contents all" aria-label="Contents">
<h2>Guides</h2><ul>${guides.map(({ slug, title }) => entry(guidePlace(slug), title))}</ul>
${contract.tags.map(({ name }) => html`<h2><a href="#${tagPlace(name)}">${name}</a></h2><ul>${ofTag(name).map((each) => entry(operationPlace(each), each.summary))}</ul>`)}
<h2><a href="#/schemas">Schemas</a></h2><ul>${schemas.map(([name]) => entry(schemaPlace(name), name))}</ul>
<h2><a href="#/headers">Response headers</a></h2>
</nav>
<main id="main" tabindex="-1">
<h1>${contract.info.title} <span class="version">${contract.info.version}</span></h1>
${text(introductionOf(contract))}
<p>Server: <code>${site.server}</code></p>
${guides.map((guide) => article(guidePlace(guide.slug), guide.title, text(withLinks(guide, site.source, ON_ONE_PAGE), inside(guidePlace(guide.slug)))))}
${contract.tags.map(({ name, description }) =>
  article(
    tagPlace(name),
    name,
    html`${text(description)}${ofTag(name).map((each) => operationSection(each, placeOf))}`,
  ),
)}
${article('/schemas', 'Schemas', html`${schemas.map(([name, schema]) => html`<section><h3 id="${schemaPlace(name)}">${name}</h3>${text(schemaMarkdown(schema, placeOf))}</section>`)}`)}
${article('/headers', 'Response headers', text(headersMarkdown(contract), inside('/headers')))}
</main>
</div>`;
  const description = `All guides and the whole reference of the ${contract.info.title} on one page without JavaScript, for printing.`;
  const page = { name: 'all', title: `${nameOf(site)} on one page`, description, markdown: 'llms-full.txt', content };
  return renderPage(site, { ...page, isScripted: false });
}

function article(place: string, title: string, content: Html): Html {
  return html`<article><h2 id="${place}">${title}</h2>${content}</article>`;
}

function operationSection(operation: Operation | Webhook, placeOf: (name: string) => string): Html {
  const place = operationPlace(operation);
  return html`<section class="operation"><h3 id="${place}">${operation.summary}</h3>${text(operationMarkdown(operation, placeOf), { topLevel: 4, idOf: (anchor) => `${place}/${anchor}` })}</section>`;
}

/**
 * Returns the options for the headings of an article. Their level is below the article's title, and their ids begin with the
 * article's place.
 */
function inside(place: string) {
  return { topLevel: 3, idOf: (anchor: string) => `${place}/${anchor}` };
}

/** Returns the contract with code samples for each operation, and without the parts that the guides contain. */
function redocDocument({ source: { contract } }: Site): Json {
  const { document, operations, info } = contract;
  const { license: _, summary: _summary, ...shown } = Object(info);
  const samples = new Map(operations.map((operation) => [keyOf(operation), samplesOf(operation)]));
  const paths = Object.entries(Object(document['paths'])).map(([path, item]) => {
    const members = Object.entries(Object(item)).map(([method, operation]) => {
      return [method, { ...Object(operation), 'x-codeSamples': samples.get(keyOf({ path, method })) }];
    });
    return [path, Object.fromEntries(members)];
  });
  const result = {
    ...document,
    info: {
      ...shown,
      description: `${introductionOf(contract)} All operations follow the [conventions](conventions.html).`,
    },
    // Variables are filled in. Otherwise Redoc would treat a URL that consists of a variable as relative to its page.
    servers: [document['servers']]
      .flat()
      .map((each) => ({ ...Object(each), url: exampleUrlOf(each), variables: undefined })),
    paths: Object.fromEntries(paths),
  };
  // Redoc does not read summaries as Markdown, so it would show their backticks.
  const adaptForRedoc = (name: string, value: unknown) =>
    name === 'summary' && typeof value === 'string' ? value.replaceAll('`', '') : value;
  return JSON.parse(JSON.stringify(result), adaptForRedoc);
}

function keyOf({ path, method }: Pick<Operation, 'path' | 'method'>): string {
  return `${method} ${path}`;
}

const DOWNLOADS = [
  { file: 'openapi.json', name: 'openapi.json' },
  { file: 'openapi.yaml', name: 'openapi.yaml' },
  { file: 'postman.json', name: 'Postman collection' },
  { file: 'charter-client.tgz', name: 'TypeScript client' },
  { file: 'charter-mock.tgz', name: 'Mock for test suites' },
  { file: 'charter-mcp.tgz', name: 'MCP server' },
];
