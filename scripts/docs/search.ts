// What the site's search finds: guides and their sections, operations and their parts, schemas, and error messages.
import { errorOf, type Guide, type Problem, QUESTIONS, type Questions, type Source } from './guides.ts';
import { type Part, partsOf } from './parts.ts';
import { operationName, schemaPlace } from './places.ts';
import { plain } from './text.ts';

export type Kind =
  | 'guide'
  | 'section'
  | 'operation'
  | 'webhook'
  | 'parameter'
  | 'header'
  | 'field'
  | 'status'
  | 'schema'
  | 'error';

/** A possible result of the search. */
export type Entry = {
  readonly kind: Kind;
  readonly title: string;
  /** The text beside the title: what contains the entry, such as a guide; for an operation, its method, path and operationId. */
  readonly where: string;
  /** The name of the page's file without ".html". */
  readonly name: string;
  /** The anchor on the page, which begins with "#"; empty if the entry is a whole page. */
  readonly anchor: string;
  readonly text: string;
  /** The factor by which the relevance is multiplied. */
  readonly weight: number;
};

/**
 * The data that assets/search.js reads: the members of each entry, in a fixed order. The last member, which can be missing, is the
 * questions that the entry answers, in one string.
 */
type SearchIndex = readonly (readonly (string | number)[])[];

/** Guides and operations come first, then the parts of operations. Error messages come last. */
const WEIGHTS: Readonly<Record<Kind, number>> = {
  guide: 1.02,
  section: 0.97,
  operation: 1,
  webhook: 0.92,
  parameter: 0.89,
  header: 0.89,
  field: 0.88,
  status: 0.84,
  schema: 0.84,
  error: 0.7,
};
/** The weights of groups of guides for which integrators rarely look. */
const WEIGHTS_OF_GROUPS: Readonly<Record<string, number>> = { Operate: 0.95, 'About the API': 0.92, Reference: 0.92 };

/** The factor for the sections of our packages' READMEs, because the guides say the same about the API itself. */
const OF_PACKAGES = 0.9;

export function searchIndexOf(source: Source): SearchIndex {
  const lost = lostQuestions(source);
  if (lost.length > 0) throw errorOf(lost);
  const asked = new Map(source.questions.map((each) => [each.place, each.asked.join('|')]));
  return entriesOf(source).map((entry) => {
    const { kind, title, where, name, anchor, text, weight } = entry;
    const row = [kind, title, where, name, anchor, shortened(text), Number(weight.toFixed(2))];
    const place = placeOf(entry);
    const questions = asked.get(place);
    // Several parts can have the same name. The first of them gets the questions.
    asked.delete(place);
    return questions === undefined ? row : [...row, questions];
  });
}

/** Returns a problem for each place in questions.yaml that does not exist. */
export function lostQuestions(source: Source): (Problem & Pick<Questions, 'place'>)[] {
  const places = new Set(placesIn(source));
  return source.questions
    .filter(({ place }) => !places.has(place))
    .map(({ place, line }) => ({ file: QUESTIONS, line, place, message: `The place "${place}" does not exist.` }));
}

/** Returns the places that can have questions, as questions.yaml names them. */
export function placesIn(source: Source): string[] {
  return entriesOf(source).map(placeOf);
}

/** Returns a name such as "errors.md#at-a-glance", "operation:getKey", or, for a part or a schema, "external_id". */
function placeOf({ kind, title, name, anchor }: Entry): string {
  if (kind === 'guide' || kind === 'section') return `${name}.md${anchor}`;
  return kind === 'operation' || kind === 'webhook' ? name.replace('reference/', 'operation:') : title;
}

function entriesOf(source: Source): Entry[] {
  return [
    ...guideEntries(source),
    ...operationEntries(source),
    ...partEntries(source),
    ...schemaEntries(source),
    ...errorEntries(source),
  ];
}

function guideEntries({ guides }: Source): Entry[] {
  return guides.flatMap((guide) => {
    const { slug, group, title, text, headings } = guide;
    const isOfPackage = guide.file.endsWith('README.md');
    const lines = text.split('\n');
    const starts = [
      { text: title, anchor: '', line: 0 },
      ...headings.map((heading) => ({ ...heading, anchor: `#${heading.anchor}` })),
    ];
    return starts.map(({ text: heading, anchor, line }, i): Entry => {
      const kind = anchor === '' ? 'guide' : 'section';
      const own = lines.slice(line, (starts[i + 1]?.line ?? lines.length + 1) - 1).join('\n');
      return {
        kind,
        title: plain(`# ${heading}`),
        where: kind === 'guide' ? group : title,
        name: slug,
        anchor,
        text: proseOf(own, kind === 'guide' ? guide : null),
        weight: WEIGHTS[kind] * (WEIGHTS_OF_GROUPS[group] ?? 1) * (isOfPackage && kind === 'section' ? OF_PACKAGES : 1),
      };
    });
  });
}

/** Returns the text without code samples and responses. For a whole guide, adds the titles of its sections. */
function proseOf(markdown: string, guide: Guide | null): string {
  const titles = guide?.headings.map(({ text }) => text) ?? [];
  return plain([markdown.replace(/^( *)```(?!sh|text)\w+[\s\S]*?^\1```$/gm, ''), ...titles].join('\n\n'));
}

function operationEntries({ contract }: Source): Entry[] {
  return [...contract.operations, ...contract.webhooks].map((each): Entry => {
    const kind = 'path' in each ? 'operation' : 'webhook';
    const address = 'path' in each ? `${each.method.toUpperCase()} ${each.path}` : each.name;
    return {
      kind,
      title: plain(each.summary),
      where: `${address} · ${each.operationId}`,
      name: operationName(each),
      anchor: '',
      text: plain(each.description),
      weight: WEIGHTS[kind],
    };
  });
}

/**
 * Returns the entries for the parts of the operations. Parts with the same name and description become one entry, which leads to
 * the first of them. Adds the fields of schemas that are on no operation's page, such as those of errors.
 */
function partEntries({ contract }: Source): Entry[] {
  const all = [...contract.operations, ...contract.webhooks].flatMap((operation) =>
    partsOf(operation, contract.schemas)
      .filter(({ kind }) => kind !== 'example')
      .map((part) => ({ part, title: shownNameOf(part), operation })),
  );
  const groups = Map.groupBy(all, ({ part, title }) => JSON.stringify([part.kind, title, part.description]));
  const parts = [...groups.values()].flatMap(([first, ...others]): Entry[] => {
    if (first === undefined) return [];
    const { part, title, operation } = first;
    const { kind } = part;
    if (kind === 'example') return [];
    const more = new Set(others.map((each) => each.operation).filter((each) => each !== operation)).size;
    // For the status of an error, the guide to errors is a better result, because it explains the status.
    const factor = /^[45]\d\d /.test(title) ? 0.77 : 1;
    return [
      {
        kind,
        title,
        where: `${plain(operation.summary)}${more === 0 ? '' : ` and ${more} more`}`,
        name: operationName(operation),
        anchor: `#${part.anchor}`,
        text: plain(part.description),
        weight: WEIGHTS[kind] * factor,
      },
    ];
  });
  const named = new Set(all.map(({ title }) => title));
  const fields = Object.entries(contract.schemas).flatMap(([schema, { properties = {} }]) =>
    Object.entries(properties).map(([title, { description = '' }]): Entry => {
      const place = { name: 'all', anchor: `#${schemaPlace(schema)}` };
      return { kind: 'field', title, where: schema, ...place, text: plain(description), weight: WEIGHTS.field };
    }),
  );
  return [...parts, ...fields.filter(({ title }) => !named.has(title))];
}

/** Returns the name of the part. For a field, leaves out the names of the fields that contain it. */
function shownNameOf({ kind, name, title }: Part): string {
  if (kind === 'status') return title;
  return kind === 'field' ? (name.split('.').at(-1) ?? name) : name;
}

function schemaEntries({ contract }: Source): Entry[] {
  return Object.entries(contract.schemas).map(([name, { description = '', properties = {} }]) => ({
    kind: 'schema',
    title: name,
    where: 'Schemas',
    name: 'all',
    anchor: `#${schemaPlace(name)}`,
    text: [plain(description), ...Object.keys(properties)].join(' '),
    weight: WEIGHTS.schema,
  }));
}

/** Returns the entries for error messages. Each leads to the section about its status in the guide to errors. */
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
          kind: 'error',
          title: message,
          where: heading.text,
          name: 'errors',
          anchor: `#${heading.anchor}`,
          text,
          weight: WEIGHTS.error,
        });
      }
    }
  }
  return [...found.values()];
}

const SHOWN = 140;

/** Returns the beginning of the text, which results show, followed by each other word once, which only the search uses. */
function shortened(text: string): string {
  if (text.length <= SHOWN) return text;
  const shown = text.slice(0, text.lastIndexOf(' ', SHOWN));
  const wordsOf = (part: string) => part.match(/[\p{L}\p{N}]+(?:[._-][\p{L}\p{N}]+)*/gu) ?? [];
  const known = new Set(wordsOf(shown).map((word) => word.toLowerCase()));
  const others = new Map(wordsOf(text.slice(shown.length)).map((word) => [word.toLowerCase(), word]));
  const further = [...others].filter(([word]) => !known.has(word)).map(([, word]) => word);
  return `${shown}…\n${further.join(' ')}`;
}
