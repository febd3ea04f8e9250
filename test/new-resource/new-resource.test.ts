import { examples, parameters } from '../../scripts/new-resource/components.ts';
import { model } from '../../scripts/new-resource/database.ts';
import { editsOf } from '../../scripts/new-resource/edits.ts';
import { readField } from '../../scripts/new-resource/field.ts';
import { wrap } from '../../scripts/new-resource/paths.ts';
import { resourceOf } from '../../scripts/new-resource/resource.ts';
import { createSchema, rowSchema, updateSchema } from '../../scripts/new-resource/schemas.ts';
import { applyEdits } from '../../scripts/new-resource/tree.ts';
import { useScratchDatabase, withClient } from '../support/postgres/postgres.ts';

const database = await useScratchDatabase();

const given = { plural: 'providers', singular: undefined, fields: ['name:string'], operations: undefined };

describe('a mistake in the arguments is named, with a remedy', () => {
  test.each([
    ['Providers', 'The name "Providers" must consist of lower-case words'],
    ['sheep', 'The singular of "sheep" is not known. Add it: --singular WORD'],
    ['classes', 'The singular "class" is a reserved word of JavaScript. Choose another one: --singular WORD'],
  ])('the name %s', (plural, message) => {
    expect(() => resourceOf({ ...given, plural, hasEvents: false, ownId: undefined })).toThrow(message);
  });

  test.each([
    ['list,create,get,merge', '"merge" is not known. Use list,create,get and any of update,delete.'],
    ['list,get', 'Every resource has list, create and get. Add: create'],
  ])('--operations %s', (operations, message) => {
    expect(() => resourceOf({ ...given, operations, hasEvents: false, ownId: undefined })).toThrow(
      `--operations ${operations}: ${message}`,
    );
  });

  test('--events without all operations', () => {
    expect(() => resourceOf({ ...given, operations: 'list,create,get', hasEvents: true, ownId: undefined })).toThrow(
      '--events: Only a resource with update and delete has events.',
    );
  });

  test.each([
    ['name', '"" is not a type. Use one of: string, uri, date-time'],
    ['isActive:boolean', 'The name "isActive" must consist of lower-case words'],
    ['created_at:string', '"created_at" has a meaning of its own in Charter. Choose another name.'],
    ['time_of_write:string', '"time_of_write" has a meaning of its own in Charter. Choose another name.'],
    ['package:string', 'The name "package" is a reserved word of JavaScript. Choose another name.'],
    ['order:integer', 'The name "order" is a reserved word of SQL. Choose another name.'],
    ['name:text', '"text" is not a type. Use one of: string, uri'],
    ['name:string:1-200', '"1-200" is not known. Use MIN..MAX'],
    ['name:string:9..1', 'The bounds 9..1 must be in order'],
    ['name:string:example=Oslo:nulable', '"nulable" is not known. Use MIN..MAX'],
    ['name:string:example=Oslo:1-200', '"1-200" is not known. Use MIN..MAX'],
    ['is_open:boolean:0..1', 'A boolean has no bounds. Remove 0..1.'],
    ['note:string:0..10000:filter', 'needs bounds with a maximum of at most 600, such as 1..200'],
    ['level:enum=one', 'Write at least two different values in lower case, such as level:enum=basic,advanced.'],
    ['seats:integer:0..9:default=10', 'default=10 is not a value of this field.'],
    ['country:string:2..2:pattern=^[A-Z{2}$', 'The pattern is not a regular expression: Unterminated character class.'],
    ['country:string:2..2:pattern=[A-Z]{2}', 'The pattern must begin with "^" and end with "$".'],
    ['note:string:pattern=^[^a]*$', 'The pattern contains "[^", which is not the same in every language.'],
    ['country:string:2..2:pattern=^[A-Z]{2}$', 'Add example=VALUE, and other=VALUE for a second row'],
    ['code:string:unique', 'The tests create several rows with only the required fields. Add nullable to unique.'],
    ['is_open:boolean:filter:unique', 'as many rows as the boolean has values. Remove unique.'],
    ['opens_at:date-time:example=2026-01-01', 'Write a date and time with an offset, such as 2026-03-01T00:00:00Z.'],
    ['note:string:nullable:other=A', 'this field can be omitted. Remove other=VALUE.'],
    ['parent_program_id:reference=parent_program', 'Write reference=parent_programs.'],
    ['program:reference=parent_programs', 'A reference to parent_programs must have the name "parent_program_id".'],
  ])('--field %s', (text, message) => {
    expect(() => readField(text)).toThrow(`--field ${text}: `);
    expect(() => readField(text)).toThrow(message);
  });

  test.each([
    [[], 'Add at least one field, such as: --field name:string:1..200'],
    [['name:string', 'name:string'], '--field name: This name is used twice.'],
    [['name:string:nullable', 'is_open:boolean:default=true'], 'At least one field must be required'],
  ])('the fields %j', (fields, message) => {
    expect(() => resourceOf({ ...given, fields, hasEvents: false, ownId: undefined })).toThrow(message);
  });
});

test.each([
  ['opens_at:date-time:example=2026-01-01T10:00:00Z:nullable', '2026-01-01T10:00:00.000Z'],
  ['opens_at:date-time:example=2026-01-01T10:00:00-05:00', '2026-01-01T15:00:00.000Z'],
  ['website:uri:nullable:example=http://127.0.0.1:8080/a:filter:1..200', 'http://127.0.0.1:8080/a'],
  ['title:string:example=Part 1: Norway:filter', 'Part 1: Norway'],
])('--field %s has an example with colons', (text, value) => {
  expect(readField(text).examples[0]).toBe(value);
});

const provider = (fields: readonly string[], ownId?: string) =>
  resourceOf({ ...given, fields: ['name:string', ...fields], hasEvents: ownId !== undefined, ownId });

test.each([
  ['is_active:boolean:filter', 'Return only the providers that are active (`true`), or only the others (`false`).'],
  ['parent_program_id:reference=parent_programs:filter', 'Return only the providers of this parent program.'],
  ['code:string:nullable:unique:filter', 'Return only the provider with exactly this `code`.'],
  ['home_country:string:filter', 'Return only the providers with exactly this home country.'],
])('the filter %s says what the list returns', (text, description) => {
  expect(Object.values(parameters(provider([text])))).toEqual([expect.objectContaining({ description })]);
});

test.each([
  ['seats:integer:0..9', [7, 8, 9]],
  ['seats:integer:1..2', [1, 2, 2]],
  ['seats:integer', [10, 11, 12]],
])('the examples of %s are within the bounds', (text, values) => {
  expect(readField(text).examples).toEqual(values);
});

test('the example of an update differs from both rows, and an event has an id as in the feed', () => {
  expect(examples(provider([], 'external_id'))).toMatchObject({
    ProviderFull: { value: { name: 'Name 1' } },
    ProviderMinimal: { value: { name: 'Name 2' } },
    ProviderUpdated: { value: { name: 'Name 3' } },
    EventProviderCreated: { value: { id: expect.stringMatching(/^019c2296-727c-7[0-3]..-8000-0001.{8}$/) } },
  });
});

test('the relations of existing models stay aligned', async () => {
  const resource = provider(['parent_program_id:reference=parent_programs']);
  const edits = editsOf(resource, '1.0.0').filter(({ file }) => file === 'prisma/schema.prisma');
  const [schema] = await applyEdits(edits);
  expect(schema?.text).toMatch(/^ {2}organization Organization @relation.*\n {2}providers {4}Provider\[\]$/m);
});

test('the relation of a nullable reference is optional', () => {
  expect(model(provider(['parent_program_id:reference=parent_programs:nullable']))).toMatch(
    /^ {2}parentProgram ParentProgram\? @relation/m,
  );
});

test('bodies, paths and batches accept the same external ids', () => {
  const resource = provider([], 'external_id');
  for (const { properties } of [createSchema(resource), updateSchema(resource)])
    expect(properties).toMatchObject({ external_id: expect.not.objectContaining({ pattern: expect.anything() }) });
});

test.each([
  ['is_active:boolean', 'Whether the provider is active.'],
  ['has_visa:boolean', 'Whether the provider has visa.'],
  ['opens_at:date-time', 'When the provider opens, in UTC.'],
  ['start_time:date-time:nullable', 'The date and time of the start, in UTC. Null if there is none.'],
  [
    'parent_program_id:reference=parent_programs',
    'The ID of the parent program that the provider belongs to. The deletion of the parent program also deletes the provider.',
  ],
])('the description of %s', (text, description) => {
  const { properties } = rowSchema(provider([text]), 'properties: {}');
  expect(properties).toMatchObject({ [text.replace(/:.*/, '')]: { description } });
});

test('a description that grew is wrapped at spaces, and lists keep their lines', () => {
  const [long, list] = [`${'`code`, '.repeat(30)}end`, `- ${'a '.repeat(80)}`];
  const [wrapped = '', kept] = wrap(`${long}\n\n${list}`).split('\n\n');
  expect(wrapped.replaceAll('\n', ' ')).toBe(long);
  expect(Math.max(...wrapped.split('\n').map(({ length }) => length))).toBeLessThan(116);
  expect(kept).toBe(list);
});

test('a name that SQL reserves is refused, whatever the version of PostgreSQL reserves', async () => {
  const { rows } = await withClient(database.url, (client) =>
    client.query<{ word: string }>("select word from pg_get_keywords() where catcode in ('R', 'T')"),
  );
  expect(rows.length).toBeGreaterThan(90);
  for (const { word } of rows) expect(() => readField(`${word}:boolean`)).toThrow('Choose another name.');
});
