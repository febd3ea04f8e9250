import { messageIn } from '../support/contract/contract.ts';
import { createProgram } from '../support/contract/every-operation.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const EMOJI = '\u{1F600}';
const NO_NUL = 'is not valid. Remove NUL characters and unpaired surrogates.';
const NOT_BLANK = 'must not be blank.';
const TWICE = 'is sent more than once. Send it only once.';
const FIELDS = messageIn('ValidationUnknownField', 'colour');
const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v']));

/** Rules that create and update share. Each body has a `name`, so that only the tested field is invalid. */
describe.each(['create', 'update'])('%s', (action) => {
  let prepared: ReturnType<typeof prepare> | undefined;

  async function prepare() {
    const ours = await createTestOrganization(server);
    return { client: ours.client, url: `/api/parent_programs/${await createProgram(ours)}` };
  }

  /** Sends a request that must be refused. Refused requests change nothing, so all tests use the same organization. */
  async function write(body: unknown, place = prepared ?? prepare()) {
    prepared ??= place;
    const { client, url } = await place;
    return action === 'create' ? client.post('/api/parent_programs', body) : client.patch(url, body);
  }
  const success = action === 'create' ? 201 : 200;

  test.each([
    ['a name of 1 character', { name: 'x' }],
    ['a name of 200 emoji', { name: EMOJI.repeat(200) }],
    ['a name with surrounding whitespace', { name: '\u00a0 x \u3000' }],
    ['a description of 10,000 emoji', { name: 'x', description: EMOJI.repeat(10_000) }],
    ['an empty description', { name: 'x', description: '' }],
    ['an external_id of 255 emoji', { name: 'x', external_id: EMOJI.repeat(255) }],
    ['an external_id of one space', { name: 'x', external_id: ' ' }],
    ['50 entries', { name: 'x', metadata: entries(50) }],
    ['no entries', { name: 'x', metadata: {} }],
    ['a key of 40 emoji and a value of 500', { name: 'x', metadata: { [EMOJI.repeat(40)]: EMOJI.repeat(500) } }],
    ['an empty value', { name: 'x', metadata: { k: '' } }],
  ])('accepts %s and stores it unchanged', async (_, body) => {
    const response = await write(body, prepare());
    expect(response.status).toBe(success);
    expect(response.body).toMatchObject(body);
  });

  test.each([
    ['name', { name: 'x'.repeat(201) }, 'must be at most 200 characters long; it has 201.'],
    ['name', { name: EMOJI.repeat(201) }, 'must be at most 200 characters long; it has 201.'],
    ['name', { name: '' }, NOT_BLANK],
    ['name', { name: '   ' }, NOT_BLANK],
    ['name', { name: '\t\n\u00a0\u2003\u3000\ufeff' }, NOT_BLANK],
    ['name', { name: 'a\0b' }, NO_NUL],
    ['name', { name: `\0${' '.repeat(200)}` }, NO_NUL],
    ['name', { name: ' '.repeat(201) }, NOT_BLANK],
    ['name', { name: null }, 'must be a string.'],
    ['name', { name: 5 }, 'must be a string.'],
    ['name', { name: ['x'] }, 'must be a string.'],
    ['description', { description: 'x'.repeat(10_001) }, 'must be at most 10000 characters long; it has 10001.'],
    ['description', { description: '\0' }, NO_NUL],
    ['description', { description: false }, 'must be a string or null.'],
    ['external_id', { external_id: 'x'.repeat(256) }, 'must be at most 255 characters long; it has 256.'],
    ['external_id', { external_id: '' }, 'must not be empty.'],
    ['external_id', { external_id: 'a\0' }, NO_NUL],
    ['external_id', { external_id: 20417 }, 'must be a string or null.'],
    ['metadata', { metadata: entries(51) }, 'must have at most 50 entries; it has 51.'],
    ['metadata', { metadata: [] }, action === 'create' ? 'must be an object.' : 'must be an object or null.'],
    ['metadata', { metadata: 'x' }, action === 'create' ? 'must be an object.' : 'must be an object or null.'],
    [
      'metadata.colour',
      { metadata: { colour: 5 } },
      action === 'create' ? 'must be a string.' : 'must be a string or null.',
    ],
    [
      'metadata.colour',
      { metadata: { colour: {} } },
      action === 'create' ? 'must be a string.' : 'must be a string or null.',
    ],
    ['metadata.colour', { metadata: { colour: 'x'.repeat(501) } }, 'must be at most 500 characters long; it has 501.'],
    ['metadata.colour', { metadata: { colour: '\0' } }, NO_NUL],
    ['metadata.', { metadata: { '': 'x' } }, 'has a name that must not be empty.'],
    ['metadata.a.b/c~d', { metadata: { 'a.b/c~d': '\0' } }, NO_NUL],
    [
      `metadata.${'k'.repeat(41)}`,
      { metadata: { ['k'.repeat(41)]: 'x' } },
      'has a name that must be at most 40 characters long; it has 41.',
    ],
    ['metadata.k\0', { metadata: { 'k\0': 'x' } }, `has a name that ${NO_NUL}`],
  ])('422 naming %s for %j', async (field, body, message) => {
    const response = await write({ name: 'x', ...body });
    expect(response.status).toBe(422);
    expect(Object.entries(response.body.errors)).toEqual([[field, [message]]]);
    expect(response.body.message).toContain(field.slice(0, 200));
  });

  // The attack: text that JavaScript accepts and PostgreSQL refuses, to cause a 500.
  test.each([
    ['name', '"name":"\\ud800"', NO_NUL],
    ['name', '"name":"x\\udfffx"', NO_NUL],
    ['description', '"name":"x","description":"\\udc00\\ud800"', NO_NUL],
    ['external_id', '"name":"x","external_id":"\\ud83d"', NO_NUL],
    ['metadata.k', '"name":"x","metadata":{"k":"\\ud800"}', NO_NUL],
    ['metadata.\ud800', '"name":"x","metadata":{"\\ud800":"v"}', `has a name that ${NO_NUL}`],
  ])('422 naming %j for a lone surrogate in {%s}', async (field, members, message) => {
    const response = await write(`{${members}}`);
    expect(response.status).toBe(422);
    expect(Object.entries(response.body.errors)).toEqual([[field, [message]]]);
  });

  // The attack: mass assignment of an id, an organization or a time.
  test.each([
    'id',
    'created_at',
    'updated_at',
    'organization_id',
    'organizationId',
    '__proto__',
    'constructor',
    'Name',
  ])('422 for the field %s, naming it and the known fields', async (field) => {
    const response = await write(`{"name":"x",${JSON.stringify(field)}:"0198f000-0000-7000-8000-000000000000"}`);
    expect(response.status).toBe(422);
    expect(Object.entries(response.body.errors)).toEqual([[field, [FIELDS]]]);
  });

  // The attack: a check in front of the server reads the first value of a repeated field, and the server reads the last value.
  test.each([
    ['name', '"name":"y"'],
    ['name', '"n\\u0061me":"x"'],
    ['description', '"description":null,"description":"y"'],
    ['metadata', '"metadata":{"k":"v"}, "metadata" : {}'],
    ['metadata.k', '"metadata":{"k":"v","other":"w","k":"v"}'],
    ['metadata.', '"metadata":{"k":"v","":"w","":"v"}'],
    ['metadata.a.b', '"metadata":{"a.b":"\\"a.b\\":","a.b":"v"}'],
    ['metadata.__proto__', '"metadata":{"__proto__":"v","__proto__":"w"}'],
  ])('422 naming %j for a field sent more than once: {"name":"x",%s}', async (field, members) => {
    const response = await write(`{"name":"x",${members}}`);
    expect(response.status).toBe(422);
    expect(response.body.errors).toHaveProperty([field], expect.arrayContaining([TWICE]));
    expect(Object.keys(response.body.errors)).toContain(field);
  });

  test('a 422 for a repeated field names the other problems, too', async () => {
    const response = await write('{"name":" ","external_id":"","external_id":"","metadata":{"a":{"b":1,"b":2}},"c":1}');
    expect(Object.keys(response.body.errors).sort()).toEqual(
      ['external_id', 'metadata.a.b', 'c', 'metadata.a', 'name'].sort(),
    );
    expect(response.body.errors.external_id).toEqual([TWICE, 'must not be empty.']);
    expect(response.body.message).toBe(`external_id ${TWICE} See errors for 4 more fields.`);
  });

  test('the same name in different objects, and as a value, is not a repeated field', async () => {
    const body = { name: 'name', description: '{"name":1,"name":2}', metadata: { name: 'name', description: 'name' } };
    const response = await write(body, prepare());
    expect(response.status).toBe(success);
    expect(response.body).toMatchObject(body);
  });

  test('errors names every invalid field, and the message names the first and counts the others', async () => {
    const response = await write({
      name: ' ',
      description: 1,
      external_id: '',
      metadata: { colour: 1, ok: 'x' },
      more: 1,
    });
    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors).sort()).toEqual(
      ['description', 'external_id', 'metadata.colour', 'more', 'name'].sort(),
    );
    expect(response.body.message).toMatch(/\. See errors for 4 more fields\.$/);
  });

  // The attack: a small request gets a response many times its size, or one that exceeds the contract's limits.
  test('a 422 for thousands of violations names a hundred and truncates the longest name', async () => {
    const many = Object.fromEntries(Array.from({ length: 5000 }, (_, i) => [`field-${i}`, 1]));
    expect(Object.keys((await write({ name: 'x', ...many })).body.errors)).toHaveLength(100);
    const long = await write({ name: 'x', [EMOJI.repeat(20_000)]: 1 });
    expect(Object.keys(long.body.errors)).toEqual([`${EMOJI.repeat(254)}…`]);
    expect(long.body.message.length).toBeLessThan(1001);
  });
});

test('create requires a name', async () => {
  const { client } = await createTestOrganization(server);
  const response = await client.post('/api/parent_programs', {});
  expect(response.status).toBe(422);
  expect(response.body).toEqual({ message: 'name is required.', errors: { name: ['is required.'] } });
});

test('create refuses null for metadata and for its entries', async () => {
  const { client } = await createTestOrganization(server);
  const whole = await client.post('/api/parent_programs', { name: 'x', metadata: null });
  expect(whole.body.errors).toEqual({ metadata: ['must be an object.'] });
  const entry = await client.post('/api/parent_programs', { name: 'x', metadata: { colour: null } });
  expect(entry.body.errors).toEqual({ 'metadata.colour': ['must be a string.'] });
});
