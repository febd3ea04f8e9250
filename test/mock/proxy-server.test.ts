// Through the proxy, the real server conforms to the contract for every request.

import { checkMockResponse, operations } from '../support/contract/contract.ts';
import { prepare, sendTo } from '../support/contract/every-operation.ts';
import { badRequests, goodRequests } from '../support/contract/parity-cases.ts';
import { Client } from '../support/http/client.ts';
import { startTestProxy } from '../support/http/proxy.ts';
import { exchangeRaw, parseRaw, rawRequest } from '../support/http/raw.ts';
import { createTestOrganization, useServer } from '../support/http/server.ts';

const server = await useServer();
const proxy = await startTestProxy(server.url);
afterAll(() => proxy.close());

test.each(operations)(
  '$operationId: the proxy reports no violation for any valid or invalid request',
  async (operation) => {
    const { ours, request } = await prepare(server, operation);
    const client = new Client(proxy.url, ours.key, checkMockResponse);
    const cases = [...badRequests(operation, request, ours.key), ...goodRequests(operation, request, ours.key)];
    const before = proxy.tally.requests;
    for (const { what: _, ...changes } of cases) await sendTo(client, request, changes);
    expect(proxy.lines.filter((line) => line.startsWith('! '))).toEqual([]);
    expect(proxy.tally.requests - before).toBe(cases.length);
  },
);

test.each([
  ['an absolute URL in its request line', 'GET http://charter.test/api/key', 200],
  ['no body and no Content-Length', 'POST /api/parent_programs', 422],
])('the proxy and the server read a request with %s in the same way', async (_, line, status) => {
  const ours = await createTestOrganization(server);
  const request = rawRequest(line, [`Authorization: Bearer ${ours.key}`]);
  const [direct, forwarded] = await Promise.all([server.url, proxy.url].map((url) => exchangeRaw(url, request)));
  expect(parseRaw(direct ?? '').status).toBe(status);
  expect(parseRaw(forwarded ?? '').text).toBe(parseRaw(direct ?? '').text);
  expect(proxy.lines.at(-1)).toMatch(new RegExp(`^  .* -> ${status}$`));
});

test('the proxy forwards the response unchanged, and browsers of any origin may read it', async () => {
  const ours = await createTestOrganization(server);
  const client = new Client(proxy.url, ours.key, checkMockResponse);
  const direct = await ours.client.get('/api/parent_programs?limit=1');
  const forwarded = await client.get('/api/parent_programs?limit=1');
  const { 'x-request-id': _id, date: _date, ratelimit: _left, ...headers } = direct.headers;
  expect(forwarded).toMatchObject({ status: 200, text: direct.text, headers });
  expect(forwarded.headers['access-control-allow-origin']).toBe('*');
  const preflight = { Origin: 'https://app.example.org', 'Access-Control-Request-Method': 'GET' };
  expect((await fetch(proxy.url, { method: 'OPTIONS', headers: preflight })).status).toBe(204);
});
