// What the search of the site finds: every section of the guides, every operation, schema and error message.
import type { Source } from './guides.ts';
import { operationName, schemaPlace } from './places.ts';
import { plain } from './text.ts';

/** A result of the search. The names are those that assets/site.js reads. */
type Entry = {
  readonly title: string;
  /** The page or the kind of the result. */
  readonly page: string;
  /** The name of the page's file without ".html". */
  readonly name: string;
  /** Begins with "#", or is empty. */
  readonly anchor: string;
  readonly text: string;
  /** Multiplies the relevance: guides for integrators come before everything else. */
  readonly weight: number;
};

/** The groups of guides that integrators rarely look for. */
const INTERNAL = new Set(['Operate', 'About the API', 'Reference']);

export function searchEntries(source: Source): Entry[] {
  return [...guideEntries(source), ...operationEntries(source), ...errorEntries(source), ...schemaEntries(source)];
}

function guideEntries({ guides }: Source): Entry[] {
  return guides.flatMap(({ slug, group, title, text, headings }) => {
    const lines = text.split('\n');
    const starts = [
      { text: title, anchor: '', line: 0 },
      ...headings.map((heading) => ({ ...heading, anchor: `#${heading.anchor}` })),
    ];
    return starts.map(({ text: heading, anchor, line }, i) => ({
      title: plain(heading),
      page: anchor === '' ? 'Guide' : title,
      name: slug,
      anchor,
      text: plain(lines.slice(line, (starts[i + 1]?.line ?? lines.length + 1) - 1).join('\n')),
      weight: (INTERNAL.has(group) ? 0.4 : 1) * (anchor === '' ? 1.5 : 1),
    }));
  });
}

function operationEntries({ contract }: Source): Entry[] {
  return [...contract.operations, ...contract.webhooks].map((each) => ({
    title: plain(each.summary),
    page: 'path' in each ? `${each.method.toUpperCase()} ${each.path} ${each.operationId}` : 'Webhook',
    name: operationName(each),
    anchor: '',
    text: [
      plain(each.description),
      ...(each.parameters ?? []).map(({ name, description }) => `${name}: ${plain(description)}`),
    ].join(' '),
    weight: 1,
  }));
}

/** Each message leads to what the guide to errors says of its status. */
function errorEntries({ contract, guides }: Source): Entry[] {
  const guide = guides.find(({ slug }) => slug === 'errors');
  const found = new Map<string, Entry>();
  for (const { responses } of contract.operations) {
    for (const [status, { content }] of Object.entries(responses)) {
      const heading = guide?.headings.find(({ text }) => text.startsWith(`${status} `));
      for (const { value } of Object.values(content?.['application/json']?.examples ?? {})) {
        const { message, errors = {} } = Object(value);
        if (heading === undefined || typeof message !== 'string') continue;
        const text = [...new Set([message, ...Object.values(errors).flat()])].join(' ');
        found.set(text, {
          title: message,
          page: `Error ${status}`,
          name: 'errors',
          anchor: `#${heading.anchor}`,
          text,
          weight: 0.4,
        });
      }
    }
  }
  return [...found.values()];
}

function schemaEntries({ contract }: Source): Entry[] {
  return Object.entries(contract.schemas).map(([name, { description = '', properties = {} }]) => ({
    title: name,
    page: 'Schema',
    name: 'all',
    anchor: `#${schemaPlace(name)}`,
    text: [plain(description), ...Object.keys(properties)].join(' '),
    weight: 0.3,
  }));
}
