import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { raw } from 'hono/html';
import type { Operation, Webhook } from '../../../src/contract/document.ts';
import { type Html, html } from '../../../src/html/html.ts';
import { LOGO } from '../../../src/html/icons.ts';
import { type Contract, descriptionOf, GENERAL, originOf } from '../contract.ts';
import { DOWNLOADS } from '../downloads.ts';
import type { Guide, Guides } from '../guides.ts';
import { withHeadings } from '../markdown.ts';
import { guidePlace, operationPlace, placed, tagPlace } from '../places.ts';
import { startOf } from '../start.ts';
import { readIcon, readSharedStyle } from '../style.ts';
import { headerSections, operationSection, webhookSection } from './operation.ts';
import { schemaPlace, schemaSection } from './schema.ts';
import { anchoredHeading, text } from './text.ts';

/** The guides and the reference on one page without scripts, for any browser, for printing and for its search. */
export async function renderPlain(root: string, contract: Contract, guides: Guides): Promise<string> {
  const [style, icon] = await Promise.all([styleOf(root), readIcon(root)]);
  const { info } = contract;
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${info.title}, on one page</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="description" content="${info.summary}">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}" type="image/svg+xml">
<style>${raw(style)}</style>
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
<header class="head"><span class="brand">${LOGO}Charter</span>
<ul><li><a href="${originOf(contract.document)}/">Dashboard</a></li><li><a href="index.html">Version with search</a></li>${DOWNLOADS.map(({ file, name }) => html`<li><a href="${file}">${name}</a></li>`)}</ul></header>
<div class="frame">
${contents(contract, guides)}
<main id="main" tabindex="-1">
${introduction(contract, guides)}
${guides.all.map((guide) => guideArticle(guide, contract, guides))}
${general(contract)}
${contract.tags.map(
  (tag) =>
    html`<article><h2 id="${tagPlace(tag.name)}">${tag.name}</h2>${text(tag.description)}${operationsOf(contract, tag.name).map(operationSection)}${webhooksOf(contract, tag.name).map(webhookSection)}</article>`,
)}
<article><h2 id="/schemas">Schemas</h2>${Object.entries(contract.schemas).map(([name, schema]) => schemaSection(name, schema))}</article>
<article><h2 id="/headers">Response headers</h2>${headerSections(contract.operations)}</article>
</main>
</div>
</body>
</html>
`.toString();
}

async function styleOf(root: string): Promise<string> {
  const styles = await Promise.all([readSharedStyle(root), readFile(join(import.meta.dirname, 'page.css'), 'utf8')]);
  return styles.join('');
}

function operationsOf({ operations }: Contract, tag: string): readonly Operation[] {
  return operations.filter(({ tags }) => tags[0] === tag);
}

function webhooksOf({ webhooks }: Contract, tag: string): readonly Webhook[] {
  return webhooks.filter(({ tags }) => tags[0] === tag);
}

function contents(contract: Contract, { all }: Guides): Html {
  const entry = (place: string, name: string) => html`<li><a href="#${place}">${name}</a></li>`;
  return html`<nav class="contents" aria-label="Contents">
<h2>Guides</h2><ul>${all.map(({ slug, title }) => entry(guidePlace(slug), title))}</ul>
<h2>Reference</h2><ul>${entry(guidePlace(GENERAL.name), GENERAL.title)}${entry('/authentication', 'Authentication')}</ul>
${contract.tags.map(
  ({ name }) =>
    html`<h3><a href="#${tagPlace(name)}">${name}</a></h3><ul>${[...operationsOf(contract, name), ...webhooksOf(contract, name)].map((each) => entry(operationPlace(each), each.summary))}</ul>`,
)}
<h3><a href="#/schemas">Schemas</a></h3><ul>${Object.keys(contract.schemas).map((name) => entry(schemaPlace(name), name))}</ul>
<h3><a href="#/headers">Response headers</a></h3>
</nav>`;
}

function introduction(contract: Contract, guides: Guides): Html {
  const { title, version, summary } = contract.info;
  return html`<h1>${title} <span class="version">${version}</span></h1><p class="lead">${summary}</p><p>Server: <code>${originOf(contract.document)}</code></p>${text(`${descriptionOf(contract).introduction}\n\n${startOf(contract, guides)}`)}`;
}

function guideArticle(guide: Guide, contract: Contract, guides: Guides): Html {
  const place = guidePlace(guide.slug);
  const source = placed(guide, { contract, guides, heading: (heading) => anchoredHeading(place, heading) });
  return html`<article><h2 id="${place}">${guide.title}</h2>${text(source)}</article>`;
}

/** The rules that all requests share, and how to authenticate. */
function general(contract: Contract): Html {
  const place = guidePlace(GENERAL.name);
  const rules = withHeadings(descriptionOf(contract).rules, (heading) => anchoredHeading(place, heading));
  const schemes = Object.values(contract.securitySchemes);
  return html`<article><h2 id="${place}">${GENERAL.title}</h2>${text(rules)}</article>
<article><h2 id="/authentication">Authentication</h2>${schemes.map(({ description }) => text(description))}</article>`;
}
