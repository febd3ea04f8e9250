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
  const ours = await createTestOrganization(server);
  await insertPrograms(
    server,
    ours,
    NAMES.map((name) => ({ name })),
  );
  expect(await namesFound(ours, `search=${encodeURIComponent(search)}`)).toEqual(expected);
});

test('search accepts a space as + and as %20', async () => {
  const ours = await createTestOrganization(server);
  await insertPrograms(server, ours, [{ name: 'Two Words' }]);
  expect(await namesFound(ours, 'search=two+words')).toEqual(['Two Words']);
  expect(await namesFound(ours, 'search=two%20words')).toEqual(['Two Words']);
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
  // A row of the same millisecond is earlier.
  ['2026-03-01T12:00:00.5001Z', ['after']],
  ['2026-03-01T12:00:00.500000001Z', ['after']],
  ['2026-03-01T12:00:00.4999999Z', ['at', 'after']],
  ['2026-03-01T12:00:00.501000001%2B00:00', []],
  ['1000-01-01T00:00:00Z', ['before', 'at', 'after']],
  ['1000-01-01T00:00:00%2B23:59', ['before', 'at', 'after']],
  ['9999-12-31T23:59:59.999Z', []],
  ['9999-12-31T23:59:59%2B01:00', []],
  // Later than any row: the year 10000.
  ['9999-12-31T23:59:59-00:01', []],
])('updated_since=%s finds %j', async (since, expected) => {
  const ours = await createTestOrganization(server);
  await insertPrograms(server, ours, [
    { name: 'before', updatedAt: new Date('2026-03-01T12:00:00.499Z') },
    { name: 'at', updatedAt: new Date('2026-03-01T12:00:00.500Z') },
    { name: 'after', updatedAt: new Date('2026-03-01T12:00:00.501Z') },
  ]);
  expect(await namesFound(ours, `updated_since=${since}&sort=updated_at`)).toEqual(expected);
  for (const sort of ['-updated_at', 'created_at', '-created_at', 'name', '-name']) {
    expect((await namesFound(ours, `updated_since=${since}&sort=${sort}`)).toSorted()).toEqual(expected.toSorted());
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

// Attack: a filter that widens the query past the caller's organization.
test('no filter finds rows of another organization', async () => {
  const ours = await createTestOrganization(server);
  const theirs = await createTestOrganization(server);
  await insertPrograms(server, theirs, [{ name: 'Their Programme', externalId: 'shared-id' }]);
  for (const query of ['search=their', 'external_id=shared-id', 'updated_since=2000-01-01T00:00:00Z', 'sort=name']) {
    expect(await namesFound(ours, query)).toEqual([]);
    expect(await namesFound(theirs, query)).toEqual(['Their Programme']);
  }
});

// PostgreSQL writes the JSON of a list, but not of a single program. JSON.parse ignores differences in whitespace.
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
