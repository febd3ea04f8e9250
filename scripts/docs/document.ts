import type { Json, Operation } from '../../src/api/document.ts';
import type { Contract } from './contract.ts';
import type { Guide, Guides } from './guides.ts';
import { type Heading, withHeadings } from './markdown.ts';
import { placed } from './places.ts';
import { errorOf } from './problem.ts';
import { samplesOf } from './samples/languages.ts';
import { unwrapped } from './unwrapped.ts';

/** What the contract says of every request, after the first words that say what it is. */
export const GENERAL = { name: 'every-request', title: 'Every request' };

const SAMPLES =
  'The samples can be run as they are shown. They read the address of the server from the environment variable `CHARTER_URL`, without a slash at the end, and the key from `CHARTER_API_KEY`.';

/** The contract as Redoc is to show it: the guides as pages before the operations, and each operation with its samples. */
export function documentOf(contract: Contract, guides: Guides, icon: string): Json {
  const { document } = contract;
  const { introduction, rules } = descriptionOf(contract);
  const shown = {
    ...document,
    info: { ...contract.info, description: introduction, 'x-logo': { url: icon, altText: 'Charter' } },
    servers: serversOf(contract),
    tags: [
      ...guides.all.map((guide) => pageTag(guide.slug, guide.title, guideText(guide, contract, guides))),
      pageTag(GENERAL.name, GENERAL.title, withHeadings(rules, heading)),
      ...contract.tags,
    ],
    'x-tagGroups': [
      { name: 'Guides', tags: guides.all.map(({ slug }) => slug) },
      { name: 'Reference', tags: [GENERAL.name, ...contract.tags.map(({ name }) => name)] },
    ],
    paths: withSamples(contract),
  };
  return JSON.parse(JSON.stringify(shown), shownAs);
}

function shownAs(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // Only a description is Markdown: of a summary Redoc would show the marks.
  return name === 'description' ? unwrapped(value) : name === 'summary' ? value.replaceAll('`', '') : value;
}

/** Redoc would look for an address that is a variable alone below its own page. */
function serversOf({ document }: Contract): Json[] {
  return [document['servers']].flat().map((server) => {
    const { url, description, variables } = Object(server);
    const example = String(url).replace(/\{(.+?)\}/g, (_, name) => variables[name].default);
    return { url: example, description: `${description} For example:` };
  });
}

/** The contract's own description, parted where its sections begin. */
export function descriptionOf({ info: { description } }: Contract): { introduction: string; rules: string } {
  const at = description.search(/^## /m);
  const [introduction, rules] = at < 0 ? [description, ''] : [description.slice(0, at), description.slice(at)];
  return { introduction: introduction.trim(), rules: `${rules.trim()}\n\n## The samples\n\n${SAMPLES}` };
}

function pageTag(name: string, title: string, description: string): Json {
  return { name, 'x-displayName': title, 'x-traitTag': true, description };
}

function guideText(guide: Guide, contract: Contract, guides: Guides): string {
  const at = guide.text.indexOf('{%');
  if (at >= 0) {
    const line = guide.text.slice(0, at).split('\n').length;
    throw errorOf([
      { file: guide.file, line, message: 'Redoc takes "{%" for a tag of its own. Write it apart: "{ %".' },
    ]);
  }
  return placed(guide, { contract, guides, heading });
}

/** With its anchor, which Redoc would make in another way. */
function heading({ level, text, anchor }: Heading): string {
  return `${'#'.repeat(level)} ${text} {% #${anchor} %}`;
}

function withSamples({ document, operations }: Contract): Json {
  const samples = new Map(operations.map((operation) => [keyOf(operation), samplesOf(operation)]));
  const paths = Object.entries(Object(document['paths'])).map(([path, item]) => {
    const members = Object.entries(Object(item)).map(([method, operation]) => {
      const made = samples.get(keyOf({ path, method }));
      return [method, made === undefined ? operation : { ...Object(operation), 'x-codeSamples': made }];
    });
    return [path, Object.fromEntries(members)];
  });
  return Object.fromEntries(paths);
}

function keyOf({ path, method }: Pick<Operation, 'path' | 'method'>): string {
  return `${method} ${path}`;
}
