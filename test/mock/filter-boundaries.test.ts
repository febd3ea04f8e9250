// For every filter of every list of the contract, with values on both sides of each boundary, the mock finds exactly what the
// server finds.
import { isId } from '../../src/domain/text.ts';
import type { Client } from '../support/clients/client.ts';
import { operations, type Parameter } from '../support/contract/contract.ts';
import { lists, tableOf } from '../support/contract/resources.ts';
import { insertItems } from '../support/postgres/postgres.ts';
import { useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const mock = await useMock();
const server = await useServer();

type Item = Readonly<Record<string, unknown>>;

/** The parameters that choose a page and its order. All others are filters. */
const OF_PAGES = new Set(['limit', 'cursor', 'sort']);

const filters = operations
  .filter(({ method, path }) => method === 'get' && lists.includes(path))
  .flatMap(({ operationId, path, parameters = [] }) =>
    parameters
      .filter((parameter) => parameter.in === 'query' && !OF_PAGES.has(parameter.name))
      .map((filter) => ({ title: `${operationId}, ${filter.name}`, path, filter })),
  );

async function itemsOf(client: Client, path: string, query = ''): Promise<Item[]> {
  const { status, body } = await client.get(`${path}?limit=100&${query}`);
  expect(status).toBe(200);
  return body.data;
}

/**
 * Creates an organization with these rows and returns its client. The rows are inserted with SQL, because a request cannot set
 * ids and times.
 */
async function serverWith(path: string, items: readonly Item[]): Promise<Client> {
  const { id: organizationId, client } = await createTestOrganization(server);
  await insertItems(server.db, { organizationId, table: tableOf({ path }) }, items);
  return client;
}

const listed = new Map(
  await Promise.all(
    lists.map(async (path) => {
      const items = await itemsOf(mock.client, path);
      return [path, { items, real: await serverWith(path, items) }] as const;
    }),
  ),
);

const later = (instant: string, milliseconds: number) => new Date(Date.parse(instant) + milliseconds).toISOString();
const isInstant = (text: string) => /^\d{4}-\d\d-\d\dT.*\.\d{3}Z$/.test(text);

/** Returns the values at which the filter could begin or cease to match the item, whatever field of the item it compares. */
function boundaries({ schema }: Parameter, item: Item): string[] {
  if (schema.enum !== undefined) return schema.enum.map(String);
  if (schema.type === 'boolean') return ['true', 'false'];
  if (schema.type === 'integer')
    return Object.values(item).flatMap((value) => (typeof value === 'number' ? [`${value}`, `${value + 1}`] : []));
  const texts = Object.values(item).filter((value) => typeof value === 'string');
  if (schema.format === 'date-time')
    return texts.filter(isInstant).flatMap((at) => {
      return [at, later(at, -1), later(at, 1), at.replace('Z', '000Z'), at.replace('Z', '000001Z')];
    });
  if (schema.format === 'uuid') return texts.filter(isId);
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern = '' } = schema;
  const form = new RegExp(pattern, 'u');
  return texts
    .filter((text) => !isInstant(text))
    .flatMap((text) => {
      const parts = [text.slice(0, 3), text.slice(-3), text.slice(0, -1), text.slice(1)];
      // A pattern may allow only texts such as the field's own ones. The reversed text is probably one that no item has.
      const reversed = [...text].toReversed().join('');
      return [text, text.toUpperCase(), text.toLowerCase(), ...parts, reversed, `${text}x`, '%%%', '___'];
    })
    .filter((value) => value.length >= minLength && value.length <= maxLength && form.test(value));
}

type OneSided = { path: string; filter: Parameter; values: readonly string[]; isFound: boolean };

function oneSided({ path, filter: { name }, values, isFound }: OneSided): string {
  const tried = `Of the values ${values.join(', ')}, ${isFound ? 'each' : 'none'} finds the same row of ${path}.`;
  return `${tried} Give the rows in the examples of the list, such as ParentProgramFull.yaml and ParentProgramPageLast.yaml, different values of what ?${name} looks at, and the filter no pattern that excludes one of them.`;
}

test('the contract has filters of every kind that this test knows', () => {
  const kinds = filters.map(({ filter: { schema } }) =>
    schema.enum === undefined ? (schema.format ?? String(schema.type)) : 'enum',
  );
  expect(kinds).toEqual(expect.arrayContaining(['date-time', 'enum', 'string']));
  const known = ['date-time', 'enum', 'string', 'uuid', 'uri', 'boolean', 'integer'];
  const unknown = kinds.filter((kind) => !known.includes(kind));
  expect(unknown.map((kind) => `${kind}: add its values on both sides of a boundary to boundaries()`)).toEqual([]);
});

test.each(filters)(
  '$title: at each boundary, the mock finds exactly what the server finds',
  async ({ path, filter }) => {
    const { items, real } = listed.get(path) ?? { items: [], real: server.anonymous };
    // The item with the most strings, so that no field that a filter compares is null.
    const texts = (item: Item) => Object.values(item).filter((value) => typeof value === 'string').length;
    const item = items.toSorted((a, b) => texts(b) - texts(a))[0] ?? {};
    const found = new Map<string, boolean>();
    // Tries the field's own values, too, because a pattern in the filter may match only these values.
    const own = items.map((each) => each[filter.name]).filter((value) => typeof value === 'string');
    const values = filter.schema.enum === undefined ? own : [];
    for (const value of new Set([...boundaries(filter, item), ...values])) {
      const query = `${filter.name}=${encodeURIComponent(value)}`;
      const [simulated, served] = [await itemsOf(mock.client, path, query), await itemsOf(real, path, query)];
      const ids = (all: readonly Item[]) => all.map(({ id }) => String(id)).toSorted();
      expect([query, ids(simulated)]).toEqual([query, ids(served)]);
      found.set(value, ids(served).includes(String(item['id'])));
    }
    const sides = new Set(found.values());
    // If all values are on one side of the boundary, nothing was compared.
    if (sides.size < 2)
      throw new Error(oneSided({ path, filter, values: [...found.keys()], isFound: sides.has(true) }));
    if (filter.schema.format !== 'date-time') return;
    // The filter means "at or after this time", so exactly one value must be the last that matches. This check finds a mistake
    // that the mock and the server share.
    const compared = [...found.keys()].filter(
      (at) => isInstant(at) && found.get(at) && found.get(later(at, 1)) === false,
    );
    expect(compared).toHaveLength(1);
    for (const at of compared) {
      expect(found.get(later(at, -1))).toBe(true);
      expect(found.get(at.replace('Z', '000001Z'))).toBe(false);
    }
  },
);
