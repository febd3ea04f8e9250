import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();
const ours = await createTestOrganization(server);

async function errorsFor(query: string): Promise<Record<string, string[]>> {
  const response = await ours.client.get(`/api/parent_programs?${query}`);
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

// Attack: a second value that bypasses validation.
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

test.each([
  ['2026-02-30T00:00:00Z', 'day 30: this month has 28 days'],
  ['2028-02-30T00:00:00Z', 'day 30: this month has 29 days'],
  ['2026-06-31T23:59:59.999Z', 'day 31: this month has 30 days'],
  ['2026-03-00T00:00:00Z', 'day 0: this month has 31 days'],
  ['2026-13-01T00:00:00Z', 'month 13'],
  ['2026-00-01T00:00:00Z', 'month 0'],
  ['2026-03-01T24:00:00Z', 'hour 24'],
  ['2026-03-01T00:60:00Z', 'minute 60'],
  ['2026-03-01T00:00:61Z', 'second 61'],
  ['2026-03-01T00:00:60Z', 'second 60 here: a leap second is the last second of a day in UTC'],
  ['2026-03-01T00:00:00%2B25:00', 'offset +25:00'],
  ['2026-03-01T00:00:00-00:60', 'offset -00:60'],
])('422 for updated_since=%s, naming what does not exist', async (value, part) => {
  expect(await errorsFor(`updated_since=${value}`)).toEqual({ updated_since: [`is not valid. There is no ${part}.`] });
});

test('422 with the remedy for a + that was not encoded as %2B and arrives as a space', async () => {
  expect(await errorsFor('updated_since=2026-03-01T00:00:00+01:00')).toEqual({ updated_since: [INSTANT] });
});

test.each(['page', 'Limit', 'limit[]', 'filter[name]', 'limit%20', '__proto__', 'constructor', 'toString', '%00', ''])(
  '422 for the unknown parameter %j, naming it and the known ones',
  async (name) => {
    const message = `is not a parameter of this operation. Allowed parameters: limit, cursor, sort, search, external_id, updated_since.`;
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

// Attack: a response many times the size of the request, or beyond the contract's bounds.
test('a 422 for a thousand unknown parameters names a hundred', async () => {
  const query = Array.from({ length: 1000 }, (_, i) => `p${i}=1`).join('&');
  expect(Object.keys(await errorsFor(query))).toHaveLength(100);
  expect(Object.keys(await errorsFor(`${'x'.repeat(4000)}=1`))).toEqual([`${'x'.repeat(254)}…`]);
});

test('empty pairs in the query are ignored', async () => {
  expect((await ours.client.get('/api/parent_programs?&&limit=5&')).body.page.limit).toBe(5);
  expect((await ours.client.get('/api/parent_programs?')).status).toBe(200);
});
