// Makes the server return every status of the document, makes the mock return it with `Prefer`, and compares the two responses.

import { firstExample } from '../../src/contract/document.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { changeLimits } from '../../src/service/operator/organizations.ts';
import { exchangeRaw, parseRaw, type Reply } from '../support/clients/client.ts';
import { operations, requireConformity } from '../support/contract/contract.ts';
import {
  maxBodyBytesOf,
  type Prepared,
  prepareFor,
  requestFor,
  sendTo,
  withQuery,
} from '../support/contract/every-operation.ts';
import { differenceOf, likeness } from '../support/contract/parity.ts';
import { createRow, resourceOf, uniqueValueOf } from '../support/contract/resources.ts';
import { copyRow, STOPPED_URL, withoutTable } from '../support/postgres/postgres.ts';
import { useMock } from '../support/servers/mock.ts';
import { createTestOrganization, type TestOrganization, useServer } from '../support/servers/server.ts';

const IMPATIENT = { headersSeconds: 0.1, requestSeconds: 0.1 };

const [server, cutOff, impatient, mock] = await Promise.all([
  useServer(),
  useServer({ databaseUrl: STOPPED_URL }),
  useServer({ databaseUrl: STOPPED_URL, timeLimits: IMPATIENT }),
  useMock(),
]);

/**
 * Functions that make the server return each status. If the document has a new status, the test fails until the status has a
 * function here.
 */
const REQUESTS: Record<number, (prepared: Prepared, operation: (typeof operations)[number]) => Promise<Reply>> = {
  200: ({ client, request }) => sendTo(client, request),
  // If the path has an id that the client chooses, the request must name a row that does not exist yet.
  201: ({ client, request }, operation) =>
    sendTo(client, { ...request, url: requestFor(operation, { id: crypto.randomUUID() }).url }),
  204: ({ client, request }) => sendTo(client, request),
  304: ({ client, request }) => sendTo(client, request, { headers: { 'If-None-Match': '*' } }),
  400: ({ client, request }) => sendTo(client, request, { url: withQuery(request.url, 'x=%ff') }),
  401: ({ request }) => sendTo(server.anonymous, request),
  403: async ({ ours, client, request }, { method }) => {
    const permissions = method === 'get' ? [] : PERMISSIONS.filter((permission) => permission.endsWith(':read'));
    await server.db.prisma.apiKey.updateMany({ where: { organizationId: ours.id }, data: { permissions } });
    if (request.url === '/api/key') {
      await server.db.prisma.organization.update({ where: { id: ours.id }, data: { suspendedAt: new Date() } });
    }
    return sendTo(client, request);
  },
  404: ({ client, request }, operation) =>
    sendTo(client, { ...request, url: requestFor(operation, { id: crypto.randomUUID() }).url }),
  405: ({ client, request }) => sendTo(client, request, { method: 'TRACE' }),
  406: ({ client, request }) => sendTo(client, request, { headers: { Accept: 'text/html' } }),
  // The empty line that ends the headers is missing.
  408: ({ request }) => sendHead(impatient.url, request, ''),
  409: async ({ ours, client, request }, operation) => {
    const resource = resourceOf(operation);
    const taken = uniqueValueOf(resource);
    await createRow(ours.client, resource, taken);
    if (isBatch(operation)) {
      const example = firstExample(resource.creation.requestBody?.content['application/json']?.examples ?? {});
      return sendAtomic(client, request, { action: 'create', body: { ...Object(example), ...taken } });
    }
    return sendTo(client, request, { body: { ...Object(request.body), ...taken } });
  },
  412: async ({ client, request }, operation) => {
    if (!isBatch(operation)) return sendTo(client, request, { headers: { 'If-Match': '"stale"' } });
    const id = await createRow(client, resourceOf(operation));
    return sendAtomic(client, request, { action: 'delete', id, if_match: '"stale"' });
  },
  413: ({ client, request }, operation) => sendTo(client, request, { body: ' '.repeat(maxBodyBytesOf(operation) + 1) }),
  414: ({ client, request }) => sendTo(client, request, { url: withQuery(request.url, 'x'.repeat(9000)) }),
  415: ({ client, request }) => sendTo(client, request, { headers: { 'Content-Type': 'text/plain' } }),
  422: ({ client, request }) => sendTo(client, request, { url: withQuery(request.url, 'verbose=1') }),
  429: async ({ ours, client, request }) => {
    await changeLimits(server.db, ours.id, { perKey: 1, perOrganization: undefined });
    const replies = await Promise.all(Array.from({ length: 6 }, () => sendTo(client, request)));
    return replies.find(({ status }) => status === 429) ?? sendTo(client, request);
  },
  500: ({ client, request }) => withoutTable(server.db, 'api_keys', () => sendTo(client, request)),
  501: ({ request }) => sendHead(server.url, request, 'Transfer-Encoding: gzip, chunked\r\n\r\n'),
  503: ({ ours, request }) => sendTo(cutOff.anonymous, request, { key: ours.key }),
};

function isBatch({ requestBody }: (typeof operations)[number]): boolean {
  return requestBody?.content['application/json']?.schema.properties?.['changes'] !== undefined;
}

function sendAtomic(client: Prepared['client'], request: Prepared['request'], change: object): Promise<Reply> {
  return sendTo(client, request, { body: { atomic: true, changes: [change] } });
}

async function sendHead(baseUrl: string, { method, url }: Prepared['request'], rest: string): Promise<Reply> {
  const reply = parseRaw(await exchangeRaw(baseUrl, `${method} ${url} HTTP/1.1\r\nHost: charter.test\r\n${rest}`));
  requireConformity({ method, url }, reply);
  return { ...reply, body: JSON.parse(reply.text) };
}

/** The statuses whose test first changes the organization or its key, and so needs an organization of its own. */
const IN_OWN_ORGANIZATION = [403, 429];

/** Creates an organization with more rows than a page of a list has, as in the mock's data. */
async function createFull(operation: (typeof operations)[number]): Promise<TestOrganization> {
  const ours = await createTestOrganization(server);
  const resource = resourceOf(operation);
  await createRow(ours.client, resource);
  await copyRow(server.db, { organizationId: ours.id, table: resource.table }, 29);
  return ours;
}

describe.each(operations)('$operationId', (operation) => {
  const statuses = Object.keys(operation.responses).map(Number);
  let shared: Promise<TestOrganization> | undefined;
  const organizationFor = (status: number) => {
    if (IN_OWN_ORGANIZATION.includes(status)) return createFull(operation);
    shared ??= createFull(operation);
    return shared;
  };

  test.each(statuses)(
    "%p: the forced response of the mock has the headers and the shape of the server's",
    async (status) => {
      const prepared = await prepareFor(await organizationFor(status), operation);
      const send = REQUESTS[status];
      if (send === undefined) throw new Error(`No request is known that gets ${status} from the server: add one.`);
      const ofServer = await send(prepared, operation);
      const ofMock = await sendTo(mock.client, prepared.request, { headers: { Prefer: `code=${status}` } });
      expect({ server: ofServer.status, mock: ofMock.status }).toEqual({ server: status, mock: status });
      expect(differenceOf(operation, `${status}`, { server: ofServer, mock: ofMock }, likeness)).toBeNull();
    },
  );

  const examples = statuses.flatMap((status) =>
    Object.keys(operation.responses[status]?.content?.['application/json']?.examples ?? {}).map(
      (example) => [status, example] as const,
    ),
  );

  test.each(examples)(
    "%p, example %s: the forced response of the mock equals the contract's example",
    async (status, example) => {
      const request = requestFor(operation, { id: crypto.randomUUID() });
      const Prefer = `code=${status}, example=${example}`;
      const response = await sendTo(mock.client, request, { headers: { Prefer } });
      const declared = operation.responses[status]?.content?.['application/json']?.examples?.[example];
      expect({ status: response.status, body: response.body }).toEqual({ status, body: declared?.value });
    },
  );
});
