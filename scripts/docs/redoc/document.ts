import type { Json, Operation } from '../../../src/contract/document.ts';
import { type Contract, descriptionOf, exampleUrlOf, GENERAL } from '../contract.ts';
import type { Guide, Guides } from '../guides.ts';
import { type Heading, withHeadings } from '../markdown.ts';
import { placed } from '../places.ts';
import { errorOf } from '../problem.ts';
import { samplesOf } from '../samples/languages.ts';
import { startOf } from '../start.ts';
import { unwrapped } from './unwrapped.ts';

/** The document for Redoc: the contract with the guides as pages before the operations, and samples for each operation. */
export function documentOf(contract: Contract, guides: Guides, icon: string): Json {
  const { document } = contract;
  const { introduction, rules } = descriptionOf(contract);
  // Redoc would show the licence beside the introduction, before anything that a reader needs, and above it the summary,
  // which repeats the introduction. The published contract keeps both.
  const { license: _, summary: _summary, ...info } = Object(contract.info);
  const result = {
    ...document,
    info: {
      ...info,
      description: `${introduction}\n\n${startOf(contract, guides)}`,
      'x-logo': { url: icon, altText: 'Charter' },
    },
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
  return JSON.parse(JSON.stringify(result), adapted);
}

function adapted(name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  // Redoc reads only descriptions as Markdown; in a summary it would show the backticks.
  return name === 'description' ? unwrapped(value) : name === 'summary' ? value.replaceAll('`', '') : value;
}

/** With the variables filled in. Redoc would take an address that is only a variable as relative to its page. */
function serversOf({ document }: Contract): Json[] {
  return [document['servers']].flat().map((server) => {
    return { url: exampleUrlOf(server), description: `${Object(server).description} For example:` };
  });
}

function pageTag(name: string, title: string, description: string): Json {
  return { name, 'x-displayName': title, 'x-traitTag': true, description };
}

function guideText(guide: Guide, contract: Contract, guides: Guides): string {
  const at = guide.text.indexOf('{%');
  if (at >= 0) {
    const line = guide.text.slice(0, at).split('\n').length;
    throw errorOf([{ file: guide.file, line, message: 'Redoc reads "{%" as a tag. Write "{ %" instead.' }]);
  }
  return withSvgAsHtml(placed(guide, { contract, guides, heading }));
}

/** A heading with its anchor, because Redoc's own anchors differ. */
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

/** Redoc shows SVG as data only in HTML; in Markdown, it takes the address for text. */
function withSvgAsHtml(markdown: string): string {
  return markdown.replaceAll(/!\[([^\]"]*)\]\((data:image\/svg\+xml;base64,[^)]+)\)/g, '<img alt="$1" src="$2">');
}
