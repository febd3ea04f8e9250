import type { Client } from '../support/clients/client.ts';
import { type Operation, operations, type Parameter } from '../support/contract/contract.ts';
import { createRow, type Resource, referredResourceOf, resources } from '../support/contract/resources.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

/** Values for the filters that are not under test. Every row of the tests matches these values. */
const MATCHING_VALUES: Readonly<Record<string, string>> = { updated_since: '2000-01-01T00:00:00Z', search: 'alike' };
const OF_PAGES = ['limit', 'cursor', 'sort'];

const queryOf = ({ parameters = [] }: Operation) => parameters.filter((parameter) => parameter.in === 'query');

const filters = resources.flatMap((resource) =>
  operations
    .filter(({ method, path }) => method === 'get' && path === resource.path)
    .flatMap((list) =>
      queryOf(list)
        .filter(({ name }) => ![...OF_PAGES, 'updated_since'].includes(name))
        .map((filter) => ({ path: resource.path, name: filter.name, filter, list, resource })),
    ),
);

/** Returns two values of the filter, and how many rows to create with each: one if the field is unique, otherwise two. */
async function groupsOf(client: Client, filter: Parameter, { creation }: Resource) {
  if (filter.name === 'search') return { values: ['Alike one', 'Alike two'], field: 'name', count: 2 };
  const { properties = {} } = creation.requestBody?.content['application/json']?.schema ?? {};
  const property = properties[filter.name] ?? {};
  const isUnique = JSON.stringify(property).includes('unique in your organization');
  return { values: await valuesOf(client, filter), field: filter.name, count: isUnique ? 1 : 2 };
}

async function valuesOf(client: Client, { name, schema, examples = {} }: Parameter): Promise<unknown[]> {
  const referred = referredResourceOf(name);
  if (referred !== undefined) return [await createRow(client, referred), await createRow(client, referred)];
  if (schema.type === 'boolean') return [true, false];
  if (schema.enum !== undefined) return schema.enum.slice(0, 2);
  const [example] = Object.values(examples).map(({ value }) => value);
  if (typeof example === 'number') return [example, example - 1];
  return [example, [...String(example)].toReversed().join('')];
}

/** Returns the ids of the whole list, read in pages of one row. */
async function idsOf(client: Client, path: string, query: Readonly<Record<string, string>>): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | null = null;
  do {
    const given: Record<string, string> = { ...query, limit: '1', ...(cursor !== null && { cursor }) };
    const { status, text, body } = await client.get(`${path}?${new URLSearchParams(given)}`);
    if (status !== 200) throw new Error(text);
    ids.push(...body.data.map(({ id }: { id: string }) => id));
    cursor = body.page.next_cursor;
  } while (cursor !== null);
  return ids.toSorted();
}

// The risk: the SQL query for one sort order, or for changed rows, lacks the filter and returns rows with other values.
test.each(filters)('?$name applies to $path in every order and beside every other filter', async (given) => {
  const { path, name, filter, list, resource } = given;
  const { client } = await createTestOrganization(server);
  const { values, field, count } = await groupsOf(client, filter, resource);
  const ids = new Map<unknown, string[]>(values.map((value) => [value, []]));
  for (let i = 0; i < count; i += 1)
    for (const [value, own] of ids) own.push(await createRow(client, resource, { name: 'Alike', [field]: value }));
  const parameters = queryOf(list);
  const others = Object.entries(MATCHING_VALUES).filter(
    ([other]) => other !== name && parameters.some((each) => each.name === other),
  );
  const beside = [{}, ...others.map((other) => Object.fromEntries([other])), Object.fromEntries(others)];
  for (const sort of parameters.find((each) => each.name === 'sort')?.schema.enum ?? []) {
    for (const other of beside) {
      for (const [value, own] of ids) {
        const query = { ...other, sort: String(sort), [name]: String(value) };
        expect({ query, ids: await idsOf(client, path, query) }).toEqual({ query, ids: own.toSorted() });
      }
    }
  }
});

test('every list has filters that these tests know', () => {
  expect(filters.map(({ path, name }) => `${path}?${name}`)).toEqual(
    expect.arrayContaining(['/api/parent_programs?search', '/api/parent_programs?external_id']),
  );
});
