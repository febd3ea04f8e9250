import { operations } from '../support/contract/contract.ts';
import { startTestMock, useMock } from '../support/servers/mock.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const mock = await useMock();
const server = await useServer();
const WARNING =
  /^Warning: a web page \(https:\/\/app\.example\.org\) calls the API\. This works here only.* \/docs\/browsers /;

const ORIGIN = 'https://app.example.org';

test.each(['/api/parent_programs', '/api/parent_programs/1', '/api/nothing', '/%'])(
  'a preflight for any origin, method and header succeeds on %s without a key',
  async (url) => {
    const response = await fetch(`${mock.url}${url}`, {
      method: 'OPTIONS',
      headers: {
        Origin: ORIGIN,
        'Access-Control-Request-Method': 'PATCH',
        'Access-Control-Request-Headers': 'authorization,if-match,prefer',
      },
    });
    expect(response.status).toBe(204);
    expect(response.headers.get('access-control-allow-origin')).toBe('*');
    expect(response.headers.get('access-control-allow-methods')).toBe('PATCH');
    expect(response.headers.get('access-control-allow-headers')).toBe('authorization,if-match,prefer');
  },
);

test('an OPTIONS request that is not a preflight gets the response of the server', async () => {
  expect((await mock.client.send('OPTIONS', '/api/key', { headers: { Origin: ORIGIN } })).status).toBe(405);
});

test('browsers may read every header of the contract and of the mock, on successes and refusals', async () => {
  const declared = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
  );
  for (const Prefer of ['', 'code=401', 'code=304', 'code=503', 'code=418']) {
    const { headers } = await mock.client.get('/api/parent_programs', { headers: { Origin: ORIGIN, Prefer } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual(
      [...new Set([...declared, 'Preference-Applied', 'X-Mock-Warning'])].sort(),
    );
  }
});

test('the mock prints once that a server sends no CORS headers', async () => {
  const own: string[] = [];
  await using fresh = await startTestMock({ print: (line) => own.push(line) });
  await fresh.client.get('/api/key');
  await fetch(`${fresh.url}/api/key`, { headers: { Origin: fresh.url } });
  expect(own.filter((line) => line.startsWith('Warning'))).toEqual([]);
  for (let i = 0; i < 3; i += 1) await fresh.client.get('/api/key', { headers: { Origin: ORIGIN } });
  expect(own.filter((line) => line.startsWith('Warning'))).toEqual([expect.stringMatching(WARNING)]);
});

test('the server sends no CORS headers, so no web page can call it', async () => {
  const { client } = await createTestOrganization(server);
  const headers = { Origin: ORIGIN, 'Access-Control-Request-Method': 'GET' };
  const replies = [await client.get('/api/key', { headers }), await client.send('OPTIONS', '/api/key', { headers })];
  expect(replies.map(({ status }) => status)).toEqual([200, 405]);
  for (const { headers } of replies)
    expect(Object.keys(headers).filter((name) => name.startsWith('access-control-'))).toEqual([]);
});
