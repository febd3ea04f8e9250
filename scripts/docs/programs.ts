// What the documentation offers to programs: Markdown, indexes for AI agents and crawlers, and the catalog of the API.
import { addressOf, type Site } from './frame.ts';
import type { Guide } from './guides.ts';
import { startMarkdown, summaryOf } from './pages.ts';
import { IN_MARKDOWN, operationName, type Places, withLinks } from './places.ts';
import { headersMarkdown, operationMarkdown, schemaMarkdown } from './reference.ts';

/** Returns the Markdown files and the indexes of the site, by path. */
export function filesForPrograms(site: Site): ReadonlyMap<string, () => string> {
  const { contract, guides } = site.source;
  const operations = [...contract.operations, ...contract.webhooks];
  return new Map<string, () => string>([
    ['index.md', () => `# ${contract.info.title}\n\n${startMarkdown(site)}`],
    [
      'reference.md',
      () =>
        `# Reference\n\n${operations.map(({ summary, operationId }) => `- [${summary}](reference/${operationId}.md)\n`).join('')}- [Schemas](reference/schemas.md)\n- [Response headers](reference/headers.md)\n`,
    ],
    ...guides.map((guide): [string, () => string] => [
      `${guide.slug}.md`,
      () => guideMarkdown(site, guide, IN_MARKDOWN),
    ]),
    ...operations.map((each): [string, () => string] => [
      `${operationName(each)}.md`,
      () =>
        withoutLabels(
          `# ${each.summary}\n\n${operationMarkdown(each, (name) => `schemas.md#${name.toLowerCase()}`)}\n`,
        ),
    ]),
    ['reference/schemas.md', () => schemasMarkdown(site)],
    ['reference/headers.md', () => `# Response headers\n\n${headersMarkdown(contract)}\n`],
    ['llms.txt', () => llmsIndex(site)],
    ['llms-full.txt', () => llmsFull(site)],
    ['sitemap.xml', () => sitemap(site)],
    ['robots.txt', () => `User-agent: *\nDisallow: /api/\n\nSitemap: ${site.address}/sitemap.xml\n`],
    ['.well-known/api-catalog', () => apiCatalog(site)],
  ]);
}

function guideMarkdown(site: Site, guide: Guide, places: Places): string {
  return withoutLabels(`# ${guide.title}\n${withLinks(guide, site.source, places)}`);
}

function schemasMarkdown({ source: { contract } }: Site): string {
  const sections = Object.entries(contract.schemas).map(
    ([name, schema]) => `## ${name}\n\n${schemaMarkdown(schema, (other) => `#${other.toLowerCase()}`)}\n`,
  );
  return withoutLabels(`# Schemas\n\n${sections.join('\n')}`);
}

/** Removes the labels of code blocks, which only the tests use. */
function withoutLabels(markdown: string): string {
  return markdown.replace(/^( *```\w+) .*$/gm, '$1');
}

/** Returns the index for AI agents (https://llmstxt.org). */
function llmsIndex(site: Site): string {
  const { contract, guides } = site.source;
  const linksOf = (listed: readonly Guide[]) =>
    listed.map((guide) => `- [${guide.title}](${site.address}/${guide.slug}.md): ${summaryOf(guide)}`).join('\n');
  const operationLinks = [...contract.operations, ...contract.webhooks].map(
    (each) =>
      `- [${each.summary}](${site.address}/reference/${each.operationId}.md): ${each.method.toUpperCase()} ${'path' in each ? each.path : each.name}`,
  );
  return `# ${contract.info.title}

> ${contract.info.summary} The server of this documentation is ${site.server}.

Everything that a program needs, in one file: ${site.address}/llms-full.txt. The OpenAPI document: ${site.address}/openapi.json.
${site.support === null ? '' : `Support: ${site.support}\n`}
## Guides

${linksOf(guides.filter(isForPrograms))}

## Reference

${operationLinks.join('\n')}
- [Schemas](${site.address}/reference/schemas.md): the bodies of requests and responses
- [Response headers](${site.address}/reference/headers.md): what each header says

## Optional

These guides are for those who use the dashboard, who operate a server, or who ask why the API is as it is.

${linksOf(guides.filter((guide) => !isForPrograms(guide)))}
`;
}

/** The groups of guides.yaml that are for people. An agent that writes a program does not need these guides. */
const GROUPS_FOR_PEOPLE = ['Use the dashboard', 'Operate', 'About the API'];

function isForPrograms({ group }: Guide): boolean {
  return !GROUPS_FOR_PEOPLE.includes(group);
}

/** Returns the text of llms-full.txt: everything that a program needs. Each error is described once, in the guide to errors. */
function llmsFull(site: Site): string {
  const { contract, guides } = site.source;
  const places: Places = (target) => `${site.address}/${IN_MARKDOWN(target)}`;
  const schemas = (name: string) => `${site.address}/reference/schemas.md#${name.toLowerCase()}`;
  return [
    `# ${contract.info.title}\n\n${contract.info.summary} Server: ${site.server}`,
    ...guides.filter(isForPrograms).map((guide) => guideMarkdown(site, guide, places).trim()),
    ...[...contract.operations, ...contract.webhooks].map((each) =>
      withoutLabels(`# ${each.summary}\n\n${operationMarkdown(each, schemas, { isBrief: true })}`),
    ),
    schemasMarkdown(site),
    `# Response headers\n\n${headersMarkdown(contract)}\n`,
  ].join('\n\n');
}

function sitemap(site: Site): string {
  const { contract, guides } = site.source;
  const operations = [...contract.operations, ...contract.webhooks].map(operationName);
  const names = ['index', ...guides.map(({ slug }) => slug), ...operations, 'reference', 'all'];
  const urls = names.map((name) => `<url><loc>${addressOf(site, name)}</loc></url>\n`);
  return `<?xml version="1.0" encoding="UTF-8"?>\n<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n${urls.join('')}</urlset>\n`;
}

/** Returns the catalog of the API (RFC 9727), which is a link set (RFC 9264). */
function apiCatalog({ server, address }: Site): string {
  const entry = {
    anchor: `${server}/api`,
    'service-desc': [
      { href: `${server}/openapi.json`, type: 'application/vnd.oai.openapi+json;version=3.1' },
      { href: `${server}/openapi.yaml`, type: 'application/vnd.oai.openapi+yaml;version=3.1' },
    ],
    'service-doc': [
      { href: address, type: 'text/html' },
      { href: `${server}/llms.txt`, type: 'text/markdown' },
    ],
    status: [{ href: `${server}/readyz`, type: 'application/json' }],
  };
  return `${JSON.stringify({ linkset: [entry] }, null, 2)}\n`;
}
