import { messageIn } from '../support/contract/contract.ts';
import { insertPrograms } from '../support/data/programs.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

const NAMES = [
  'École Élémentaire',
  'ÜNÏCODE',
  '100% paid',
  'a_b_c',
  'back\\slash',
  'Straße',
  'ΑΒΓ',
  'Plain',
  "O'Brien",
  'Cre\u0300me bru\u0302le\u0301e',
  'Ὀδυσσεύς',
  'Istanbul, İstanbul',
  'ﬁnance',
  'ꮳꮃꭹ',
];

const named = await createTestOrganization(server);
await insertPrograms(
  server,
  named,
  NAMES.map((name) => ({ name })),
);
const dated = await createTestOrganization(server);
await insertPrograms(server, dated, [
  { name: 'before', updatedAt: new Date('2026-03-01T12:00:00.499Z') },
  { name: 'at', updatedAt: new Date('2026-03-01T12:00:00.500Z') },
  { name: 'after', updatedAt: new Date('2026-03-01T12:00:00.501Z') },
]);

async function namesFound({ client }: TestOrganization, query: string): Promise<string[]> {
  const response = await client.get(`/api/parent_programs?${query}`);
  expect(response.status).toBe(200);
  return response.body.data.map(({ name }: { name: string }) => name);
}

test.each([
  ['école', ['École Élémentaire']],
  ['ÉCOLE', ['École Élémentaire']],
  ['ünï', ['ÜNÏCODE']],
  ['ÜNÏcode', ['ÜNÏCODE']],
  ['αβγ', ['ΑΒΓ']],
  ['e\u0301cole', ['École Élémentaire']],
  ['Crème BRÛLÉE', ['Cre\u0300me bru\u0302le\u0301e']],
  ['creme', []],
  ['STRASSE', ['Straße']],
  ['straẞe', ['Straße']],
  ['ὈΔΥΣΣΕΎΣ', ['Ὀδυσσεύς']],
  ['Ὀδυσσεύσ', ['Ὀδυσσεύς']],
  ['ISTANBUL, i\u0307', ['Istanbul, İstanbul']],
  ['ıstanbul', []],
  ['FINANCE', ['ﬁnance']],
  ['ᏣᎳᎩ', ['ꮳꮃꭹ']],
  ['00%', ['100% paid']],
  ['%%%', []],
  ['a_b', ['a_b_c']],
  ['a_b_c', ['a_b_c']],
  ['___', []],
  ['_b_', ['a_b_c']],
  ['k\\s', ['back\\slash']],
  ['\\\\\\', []],
  ['ain', ['Plain']],
  ["O'B", ["O'Brien"]],
  ["' or 1=1 --", []],
  ['xyz', []],
])('search=%s finds %j', async (search, expected) => {
  expect(await namesFound(named, `search=${encodeURIComponent(search)}`)).toEqual(expected);
});

test('search accepts 3 to 100 characters, counted in code points of the normal form C', async () => {
  const ours = await createTestOrganization(server);
  const name = '\u{1F600}'.repeat(100);
  await insertPrograms(server, ours, [{ name }]);
  expect(await namesFound(ours, `search=${encodeURIComponent('\u{1F600}'.repeat(3))}`)).toEqual([name]);
  expect(await namesFound(ours, `search=${encodeURIComponent(name)}`)).toEqual([name]);
  const accented = 'é'.repeat(100);
  await insertPrograms(server, ours, [{ name: accented }]);
  for (const count of [3, 100])
    expect(await namesFound(ours, `search=${encodeURIComponent('e\u0301'.repeat(count))}`)).toEqual([accented]);
});

test('external_id finds exactly the program with that id, case-sensitively', async () => {
  const ours = await createTestOrganization(server);
  const rows = ['sis-1', 'SIS-1', 'sis-10', 'a%', 'a b+c'].map((externalId) => ({ name: externalId, externalId }));
  await insertPrograms(server, ours, [...rows, { name: 'none' }]);
  expect(await namesFound(ours, 'external_id=sis-1')).toEqual(['sis-1']);
  expect(await namesFound(ours, 'external_id=a%25')).toEqual(['a%']);
  expect(await namesFound(ours, 'external_id=a+b%2Bc')).toEqual(['a b+c']);
  expect(await namesFound(ours, 'external_id=sis')).toEqual([]);
});

test.each([
  ['2026-03-01T12:00:00.500Z', ['at', 'after']],
  ['2026-03-01T12:00:00.501Z', ['after']],
  ['2026-03-01T12:00:00Z', ['before', 'at', 'after']],
  ['2026-03-01T13:00:00.501%2B01:00', ['after']],
  ['2026-03-01T06:30:00.500-05:30', ['at', 'after']],
  ['2026-03-01T12:00:00.500000000Z', ['at', 'after']],
  // Rows have whole milliseconds, so the row at 12:00:00.500 is earlier than these times.
  ['2026-03-01T12:00:00.5001Z', ['after']],
  ['2026-03-01T12:00:00.500000001Z', ['after']],
  ['2026-03-01T12:00:00.4999999Z', ['at', 'after']],
  ['2026-03-01T12:00:00.501000001%2B00:00', []],
  ['1000-01-01T00:00:00Z', ['before', 'at', 'after']],
  ['1000-01-01T00:00:00%2B23:59', ['before', 'at', 'after']],
  ['9999-12-31T23:59:59.999Z', []],
  ['9999-12-31T23:59:59%2B01:00', []],
  // In UTC, this is in the year 10000, later than any row.
  ['9999-12-31T23:59:59-00:01', []],
])('updated_since=%s finds %j', async (since, expected) => {
  expect(await namesFound(dated, `updated_since=${since}&sort=updated_at`)).toEqual(expected);
  for (const sort of ['-updated_at', 'created_at', '-created_at', 'name', '-name']) {
    expect((await namesFound(dated, `updated_since=${since}&sort=${sort}`)).toSorted()).toEqual(expected.toSorted());
  }
});

test.each(['2016-12-31T23:59:60Z', '2017-01-01T00:59:60%2B01:00'])(
  'updated_since=%s, a leap second, counts as the following second',
  async (since) => {
    const ours = await createTestOrganization(server);
    await insertPrograms(server, ours, [
      { name: 'before', updatedAt: new Date('2016-12-31T23:59:59.999Z') },
      { name: 'at', updatedAt: new Date('2017-01-01T00:00:00Z') },
    ]);
    expect(await namesFound(ours, `updated_since=${since}`)).toEqual(['at']);
  },
);

test('a program is found by every filter it matches, and by no combination with a filter it does not match', async () => {
  const ours = await createTestOrganization(server);
  const updatedAt = new Date('2026-03-01T00:00:00.000Z');
  await insertPrograms(server, ours, [{ name: 'Nordic Scholars', externalId: 'n-1', updatedAt }]);
  const met = ['search=nordic', 'external_id=n-1', 'updated_since=2026-03-01T00:00:00Z'];
  const missed = ['search=alpine', 'external_id=n-2', 'updated_since=2026-03-01T00:00:01Z'];
  for (let choice = 0; choice < 8; choice += 1) {
    const isMet = (i: number) => (choice >> i) % 2 === 0;
    const query = met.map((filter, i) => (isMet(i) ? filter : missed[i])).join('&');
    expect(await namesFound(ours, query)).toEqual(choice === 0 ? ['Nordic Scholars'] : []);
  }
});

// PostgreSQL makes the JSON of a list, and the server the JSON of a single program. JSON.parse removes the whitespace, in which
// they may differ.
test('a program has the same fields in the same order in a list as by its id', async () => {
  const ours = await createTestOrganization(server);
  const { client } = ours;
  const end = '","created_at":"2020-01-01T00:00:00+00:00","updated_at":"2020-01-01T00:00:00+00:00"}';
  const rows = ['12:00:00Z', '12:00:00.1Z', '12:00:00.12Z', '12:00:00.123Z', '12:00:00.02Z'].map((time, i) => ({
    name: `${i} "quoted" \\ <é> 😀 \u2028`,
    externalId: `${i}${end}`,
    createdAt: new Date(`2026-02-28T${time}`),
    updatedAt: new Date(`2026-03-01T${time}`),
    ...(i > 0 && { description: end, metadata: { created_at: end, '","updated_at":"': 'a\nb', zz: '"\\' } }),
  }));
  await insertPrograms(server, ours, rows);
  const { data } = (await client.get('/api/parent_programs')).body;
  expect(data).toHaveLength(rows.length);
  for (const program of data) {
    const { body } = await client.get(`/api/parent_programs/${program.id}`);
    expect(JSON.stringify(program)).toBe(JSON.stringify(body));
  }
});

async function errorsFor(query: string): Promise<Record<string, string[]>> {
  const response = await named.client.get(`/api/parent_programs?${query}`);
  expect(response.status).toBe(422);
  return response.body.errors;
}

const LIMIT = ['must be an integer from 1 to 100.'];
const TWICE = 'is sent more than once. Send it only once.';
const NO_NUL = ['is not valid. Remove NUL characters and unpaired surrogates.'];
const INSTANT =
  'is not valid. It must be an RFC 3339 date and time with an offset, such as 2026-03-01T00:00:00Z. Encode + as %2B.';

test.each([
  ...['0', '101', '-1', '-0', '1e1', '0x10', '%2B5', '+5', '', '1.5', '1.0', '%205', '5%20', '05', 'abc', 'NaN'],
  ...['Infinity', '99999999999999999999999', '%D9%A5', 'null', 'true', '1_0', '5,', '[5]'],
])('422 for limit=%s, naming it', async (value) => {
  expect(await errorsFor(`limit=${value}`)).toEqual({ limit: LIMIT });
});

test.each(['limit', 'limit='])('422 for a limit without a value: ?%s', async (query) => {
  expect(await errorsFor(query)).toEqual({ limit: LIMIT });
});

test('422 for a repeated limit, even if both values are equal', async () => {
  expect(await errorsFor('limit=25&limit=25')).toEqual({ limit: [TWICE] });
  expect(await errorsFor('limit=10&limit=20')).toEqual({ limit: [TWICE] });
  expect(await errorsFor('limit=10&l%69mit=20')).toEqual({ limit: [TWICE] });
});

// The attack: a second value that bypasses validation.
test.each(['cursor=a&cursor=b', 'sort=name&sort=-name', 'search=abc&search=abd', 'external_id=1&external_id=2'])(
  '422 for ?%s, naming the repeated parameter',
  async (query) => {
    const name = query.slice(0, query.indexOf('='));
    expect((await errorsFor(query))[name]).toContain(TWICE);
  },
);

test.each(['', 'NAME', 'Name', 'id', '--name', '%2Bname', 'name,id', 'name%00', 'constructor', 'created_at;drop'])(
  '422 for sort=%s, naming the allowed values',
  async (value) => {
    expect(await errorsFor(`sort=${value}`)).toEqual({
      sort: ['must be one of: created_at, -created_at, updated_at, -updated_at, name, -name.'],
    });
  },
);

test.each([
  ['ab', 'must be at least 3 characters long; it has 2.'],
  ['', 'must be at least 3 characters long; it has 0.'],
  ['x'.repeat(101), 'must be at most 100 characters long; it has 101.'],
  ['%F0%9F%98%80'.repeat(2), 'must be at least 3 characters long; it has 2.'],
  ['%F0%9F%98%80'.repeat(101), 'must be at most 100 characters long; it has 101.'],
  ['Ca%CC%81', 'must be at least 3 characters long; it has 2.'],
  ['e%CC%81'.repeat(101), 'must be at most 100 characters long; it has 101.'],
])('422 for search=%s, naming it', async (value, message) => {
  expect(await errorsFor(`search=${value}`)).toEqual({ search: [message] });
});

test.each(['search=abc%00', 'search=%00%00%00', 'external_id=%00'])('422 for NUL in ?%s, naming it', async (query) => {
  expect(await errorsFor(query)).toEqual({ [query.slice(0, query.indexOf('='))]: NO_NUL });
});

test.each([
  ['', 'must not be empty.'],
  ['x'.repeat(256), 'must be at most 255 characters long; it has 256.'],
])('422 for external_id=%s, naming it', async (value, message) => {
  expect(await errorsFor(`external_id=${value}`)).toEqual({ external_id: [message] });
});

test.each([
  ...['yesterday', '', '2026-03-01', '2026-03-01T00:00:00', '2026-03-01%2000:00:00Z', '1772323200', '0'],
  ...['2026-03-01t00:00:00z', '2026-02-30', '2026-3-1T00:00:00Z'],
  ...['2026-03-01T00:00Z', '2026-03-01T00:00:00.Z', '2026-03-01T00:00:00.1234567890Z', '0026-03-01T00:00:00Z'],
  ...['-2026-03-01T00:00:00Z', '%2B002026-03-01T00:00:00Z', '2026-03-01T00:00:00Z%00'],
])('422 for updated_since=%s, naming the expected format', async (value) => {
  expect(await errorsFor(`updated_since=${value}`)).toEqual({ updated_since: [INSTANT] });
});

test('422 for an updated_since that does not exist, naming the part', async () => {
  expect(await errorsFor('updated_since=2026-02-30T00:00:00Z')).toEqual({
    updated_since: ['is not valid. There is no day 30: this month has 28 days.'],
  });
});

test('422 with the remedy for a + that was not encoded as %2B and arrives as a space', async () => {
  expect(await errorsFor('updated_since=2026-03-01T00:00:00+01:00')).toEqual({ updated_since: [INSTANT] });
});

test.each(['page', 'Limit', 'limit[]', 'filter[name]', 'limit%20', '__proto__', 'constructor', 'toString', '%00', ''])(
  '422 for the unknown parameter %j, naming it and the known ones',
  async (name) => {
    const message = messageIn('ValidationListUnknownParameter', 'page');
    const errors = await errorsFor(`${name}=1`);
    expect(Object.entries(errors)).toEqual([[decodeURIComponent(name) || '(no name)', [message]]]);
  },
);

test('one 422 names every invalid parameter', async () => {
  const errors = await errorsFor('limit=0&sort=x&search=a&external_id=&updated_since=x&page=2&size=3&cursor=%2B');
  expect(Object.keys(errors).sort()).toEqual(
    ['cursor', 'external_id', 'limit', 'page', 'search', 'size', 'sort', 'updated_since'].sort(),
  );
});

// The attack: a small request gets a response many times its size, or one that exceeds the contract's limits.
test('a 422 for a thousand unknown parameters names a hundred', async () => {
  const query = Array.from({ length: 1000 }, (_, i) => `p${i}=1`).join('&');
  expect(Object.keys(await errorsFor(query))).toHaveLength(100);
  expect(Object.keys(await errorsFor(`${'x'.repeat(4000)}=1`))).toEqual([`${'x'.repeat(254)}…`]);
});
