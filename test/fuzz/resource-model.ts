// A minimal model of the rows of one organization, independent of the server's code. The document defines the resources.
import { isDeepStrictEqual } from 'node:util';
import { searchFormOf } from '../../scripts/mock/search-form.ts';
import { isObject, type Json, type Operation, operationsOf, type Schema } from '../../src/contract/document.ts';
import { referredBy } from '../support/contract/resources.ts';

/** A row as the API shows it. */
export type Row = Json & { readonly id: string; readonly created_at: string; readonly updated_at: string };
/** The fields of a row that clients write. */
export type Content = Json;

export type Resource = {
  /** The path of its list, on which rows are created: "/api/parent_programs". */
  readonly path: string;
  readonly creation: Operation;
  readonly list: Operation;
  /** `undefined` if the document has no such operation. */
  readonly update: Operation | undefined;
  readonly removal: Operation | undefined;
  /** The fields that clients write, each with the value that it has if it is left out. */
  readonly defaults: Content;
  /** Fields that refer to rows of other resources. */
  readonly references: readonly string[];
  /** Fields whose values no two rows of an organization share. */
  readonly unique: readonly string[];
  /** The feed with the changes of its rows; undefined: the document has none. */
  readonly feed: Feed | undefined;
};

/** `noun`: the types of the events begin with it, as in "parent_program.created". */
export type Feed = { readonly path: string; readonly noun: string };

/** Every resource of the document whose rows can be created, listed and read. */
export function resourcesOf(document: Json): Resource[] {
  const operations = operationsOf(document);
  const find = (method: string, path: string) =>
    operations.find((each) => each.method === method && each.path === path);
  return operations.flatMap((creation) => {
    const { path, method, responses } = creation;
    const list = find('get', path);
    const shown = responses[201]?.content?.['application/json']?.schema.properties ?? {};
    if (method !== 'post' || list === undefined || find('get', `${path}/{id}`) === undefined) return [];
    const properties = schemaOf(creation).properties ?? {};
    const fields = Object.keys(properties);
    return [
      {
        path,
        creation,
        list,
        update: find('patch', `${path}/{id}`),
        removal: find('delete', `${path}/{id}`),
        defaults: Object.fromEntries(
          fields.map((name) => [name, properties[name]?.default ?? emptyValueOf(shown[name])]),
        ),
        references: fields.filter((name) => referredBy(name) !== undefined),
        feed: feedOf(path, operations),
        unique: fields.filter((name) => properties[name]?.description?.includes('unique in your organization')),
      },
    ];
  });
}

function feedOf(path: string, operations: readonly Operation[]): Feed | undefined {
  const noun = path.split('/').at(-1)?.replace(/s$/, '') ?? '';
  const feed = operations.find(({ parameters = [] }) =>
    parameters.some(({ name, schema }) => name === 'type' && schema.enum?.includes(`${noun}.created`)),
  );
  return feed === undefined ? undefined : { path: feed.path, noun };
}

/** The schema of the body. */
export function schemaOf({ requestBody }: Operation): Schema {
  return requestBody?.content['application/json']?.schema ?? {};
}

/** The value of a field without a default that a creation leaves out. */
function emptyValueOf({ type }: Schema = {}): unknown {
  const types = [type].flat();
  if (types.includes('object')) return {};
  return types.includes('boolean') && !types.includes('null') ? false : null;
}

export type Change = { readonly kind: 'created' | 'updated' | 'deleted'; readonly row: Row };
export type Kept = { readonly row: Row; readonly entityTag: string };
/** Values by the names of query parameters. */
export type Filters = Readonly<Record<string, string>>;

export class Rows {
  readonly resource: Resource;
  /** Rows by id. */
  readonly kept = new Map<string, Kept>();
  /** Ids, including those of deleted rows. */
  readonly ids: string[] = [];
  /** Responses by Idempotency-Key. */
  readonly responses = new Map<string, { readonly content: Content; readonly row: Row }>();

  /** The changes that the feed has not shown yet. */
  readonly unread: Change[] = [];
  /** The cursor of the last page of the feed that was read; undefined: none was read. */
  cursor: string | undefined;

  constructor(resource: Resource) {
    this.resource = resource;
  }

  /** Whether another row has a value of the content that must be unique. */
  isTaken(content: Content, by?: string): boolean {
    const others = [...this.kept.values()].filter(({ row }) => row.id !== by);
    return this.resource.unique.some((field) => {
      return content[field] !== null && others.some(({ row }) => row[field] === content[field]);
    });
  }

  keep(kept: Kept): void {
    const { id } = kept.row;
    if (!this.ids.includes(id)) this.ids.push(id);
    this.kept.set(id, kept);
  }

  listed(sort: string, filters: Filters): Row[] {
    const field = sort.replace('-', '');
    const sign = sort.startsWith('-') ? -1 : 1;
    return [...this.kept.values()]
      .map(({ row }) => row)
      .filter((row) => Object.entries(filters).every(([name, value]) => isFound(row, name, value)))
      .sort((a, b) => sign * (byCodePoint(String(a[field]), String(b[field])) || byCodePoint(a.id, b.id)));
  }

  /** What a creation with this body must show. */
  contentOf(body: Json): Content {
    return { ...this.resource.defaults, ...body };
  }

  /**
   * What the row must show after the merge patch (RFC 7396), and the field that would have too many entries; undefined if no
   * field would.
   */
  patched(row: Row, patch: Json): { content: Content; tooMany: string | undefined } {
    const { defaults, update } = this.resource;
    const { properties = {} } = update === undefined ? {} : schemaOf(update);
    const changed = Object.entries(patch).map(([name, change]): [string, unknown] => [
      name,
      isObject(defaults[name]) ? mergedEntries(row[name], change) : change,
    ]);
    const [tooMany] =
      changed.find(([name, value]) => {
        const { maxProperties = Number.POSITIVE_INFINITY } = properties[name] ?? {};
        return isObject(value) && Object.keys(value).length > maxProperties;
      }) ?? [];
    return { content: { ...this.#contentIn(row), ...Object.fromEntries(changed) }, tooMany };
  }

  isSame(a: Content, b: Content): boolean {
    return isDeepStrictEqual(this.#contentIn(a), this.#contentIn(b));
  }

  #contentIn(value: Content): Content {
    return Object.fromEntries(Object.keys(this.resource.defaults).map((name) => [name, value[name]]));
  }
}

/** "search" finds a part of the name, "updated_since" the later rows, and any other parameter the field of its name. */
function isFound(row: Row, parameter: string, value: string): boolean {
  if (parameter === 'search') return searchFormOf(String(row['name'])).includes(searchFormOf(value));
  if (parameter === 'updated_since') return row.updated_at >= value;
  // A value as a parameter has it: "true" for true.
  return row[parameter] !== null && String(row[parameter]) === value;
}

function mergedEntries(before: unknown, change: unknown): Json {
  const entries = new Map(change === null ? [] : Object.entries(Object(before)));
  for (const [name, value] of Object.entries(Object(change))) {
    if (value === null) entries.delete(name);
    else entries.set(name, value);
  }
  return Object.fromEntries(entries);
}

function byCodePoint(a: string, b: string): number {
  // The byte order of UTF-8 equals the order of code points.
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}
