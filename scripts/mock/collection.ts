import { createHash } from 'node:crypto';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import type { Json, Operation } from '../../src/api/document.ts';
import { isObject, schemaOfMember } from './json-schema.ts';
import { examplesOf, type Source, schemaOf, successOf } from './response-source.ts';

/** What a list lists, the same for every request: enough for some pages of the usual size. */
export type Collection = { readonly path: string; readonly items: readonly Json[] };

const ITEMS = 60;
const DAY_MS = 86_400_000;

/** A list is an operation whose success has `data` and `page`; undefined: this one is none. */
export async function collectionOf(
  operation: Operation,
  { ajv, source, isDynamic }: { ajv: Ajv2020; source: Source; isDynamic: boolean },
): Promise<Collection | undefined> {
  const schema = schemaOf(operation, successOf(operation));
  const items = schemaOfMember(schema, 'data');
  if (!isObject(items) || !isObject(items['items']) || schemaOfMember(schema, 'page') === undefined) return undefined;
  const validate = ajv.compile(items['items']);
  const found = isDynamic ? await generate(operation, source) : shown(operation);
  return { path: operation.path, items: found.filter((item) => validate(item)) };
}

async function generate(operation: Operation, source: Source): Promise<Json[]> {
  const items: Json[] = [];
  for (let i = 0; i < ITEMS && items.length < ITEMS; i += 1) {
    const { body } = await source({ operation, status: successOf(operation), address: `${operation.path} ${i}` });
    items.push(...itemsIn(body));
  }
  return items.slice(0, ITEMS);
}

/** Those of the contract's examples first, as they are; then the same again and again, told apart. */
function shown(operation: Operation): Json[] {
  const examples = examplesOf(operation, successOf(operation)).flatMap(([, { value }]) => itemsIn(value));
  const distinct = [...new Map(examples.map((item) => [item['id'], item])).values()];
  const rounds = distinct.length === 0 ? 0 : Math.ceil(ITEMS / distinct.length);
  return Array.from({ length: rounds }, (_, round) => distinct.map((item) => variant(item, round)))
    .flat()
    .slice(0, ITEMS);
}

/** What must or should differ from item to item does, by the names that the contract uses. */
function variant(item: Json, round: number): Json {
  if (round === 0) return item;
  const change = ([name, value]: [string, unknown]): [string, unknown] => {
    if (typeof value !== 'string') return [name, value];
    if (name === 'id') return [name, idOf(`${value} ${round}`)];
    if (name === 'name') return [name, `${value} ${round + 1}`];
    if (name === 'external_id') return [name, `${value}-${round + 1}`];
    if (name.endsWith('_at')) return [name, new Date(Date.parse(value) + round * DAY_MS).toISOString()];
    return [name, value];
  };
  return Object.fromEntries(Object.entries(item).map(change));
}

/** A UUID in the form of version 7, the same for the same text. */
export function idOf(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-7${hex.slice(13, 16)}-8${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}

function itemsIn(body: unknown): Json[] {
  const data = isObject(body) ? body['data'] : undefined;
  return Array.isArray(data) ? data.filter(isObject) : [];
}
