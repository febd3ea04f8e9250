import { operations } from '../support/contract.ts';
import { useMock } from '../support/mock.ts';

const mock = await useMock();

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

test('browsers may read every header of the contract, on successes and refusals', async () => {
  const declared = operations.flatMap(({ responses }) =>
    Object.values(responses).flatMap(({ headers = {} }) => Object.keys(headers)),
  );
  for (const Prefer of ['', 'code=401', 'code=304', 'code=503', 'code=418']) {
    const { headers } = await mock.client.get('/api/parent_programs', { headers: { Origin: ORIGIN, Prefer } });
    expect(headers['access-control-allow-origin']).toBe('*');
    expect(headers['access-control-expose-headers']?.split(', ')).toEqual([...new Set(declared)].sort());
  }
});
