import { operations } from '../support/contract/contract.ts';
import {
  type Prepared,
  prepare,
  requestFor,
  sendTo,
  successOf,
  withQuery,
} from '../support/contract/every-operation.ts';
import { useServer } from '../support/servers/server.ts';

const server = await useServer();

describe.each(operations)('$operationId', (operation) => {
  const hasId = operation.path.includes('{id}');
  let shared: Promise<Prepared> | undefined;
  /** Prepares data once for all refused requests, because refused requests change nothing. */
  const prepareOnce = (): Promise<Prepared> => {
    shared ??= prepare(server, operation);
    return shared;
  };

  test('returns its success status for a request built from the examples', async () => {
    const { client, request } = await prepare(server, operation);
    expect((await sendTo(client, request)).status).toBe(successOf(operation));
  });

  test.each([
    'application/*;q=0.5, text/html',
    '*/*',
    'text/html, application/json;q=0.1',
    // The exact Content-Type of the response.
    'application/json; charset=utf-8',
  ])('accepts Accept: %s', async (accept) => {
    const { client, request } = await prepare(server, operation);
    const response = await sendTo(client, request, { headers: { Accept: accept } });
    expect(response.status).toBe(successOf(operation));
  });

  test.each(['text/html', 'application/json;q=0', 'application/xml, application/json;q=0, */*;q=0'])(
    '406 for Accept: %s',
    async (accept) => {
      const { client, request } = await prepareOnce();
      const response = await sendTo(client, request, { headers: { Accept: accept } });
      expect(response.status).toBe(406);
    },
  );

  const methods = operations.filter(({ path }) => path === operation.path).map((each) => each.method.toUpperCase());
  const others = ['PUT', 'OPTIONS', 'TRACE'].filter((method) => !methods.includes(method));

  test.each(others)('405 for %s, with the methods of the path in Allow', async (method) => {
    const { client, request } = await prepareOnce();
    const allowed = methods.flatMap((each) => (each === 'GET' ? ['GET', 'HEAD'] : [each]));
    const response = await client.send(method, request.url);
    expect(response.status).toBe(405);
    expect(response.headers['allow']?.split(', ').sort()).toEqual(allowed.sort());
  });

  test('414 for an address of 8193 bytes, and not for one of 8192', async () => {
    const { client, request } = await prepareOnce();
    const padding = 8193 - withQuery(request.url, 'q=').length;
    const tooLong = withQuery(request.url, `q=${'x'.repeat(padding)}`);
    expect((await sendTo(client, request, { url: tooLong })).status).toBe(414);
    const longest = await sendTo(client, request, { url: tooLong.slice(0, -1) });
    expect(longest.status).toBe(422); // a 422, because the parameter is unknown
  });

  test('422 for an unknown query parameter, naming it', async () => {
    const { client, request } = await prepareOnce();
    const response = await sendTo(client, request, { url: withQuery(request.url, 'verbose=1') });
    expect(response.status).toBe(422);
    expect(Object.keys(response.body.errors)).toEqual(['verbose']);
    expect(response.body.message).toMatch(
      /^verbose is not (a parameter of this operation\. Allowed parameters: |allowed\. )/,
    );
  });

  test.each(['search=%ff', '%ff=1', 'search=%', 'search=%C3', 'search=%ED%A0%80'])('400 for ?%s', async (query) => {
    const { client, request } = await prepareOnce();
    const response = await sendTo(client, request, { url: withQuery(request.url, query) });
    expect(response.status).toBe(400);
  });

  if (operation.method === 'get') {
    test('HEAD gets the status and the headers of GET, without a body', async () => {
      const { client, request } = await prepare(server, operation);
      const { 'x-request-id': _, date: __, ratelimit: ___, ...shown } = (await sendTo(client, request)).headers;
      const head = await sendTo(client, request, { method: 'HEAD' });
      expect(head).toMatchObject({ status: 200, headers: shown, text: '' });
    });

    test('HEAD gets the same refusals as GET, without a body', async () => {
      const { client, request } = await prepareOnce();
      const url = withQuery(request.url, 'verbose=1');
      expect(await sendTo(client, request, { method: 'HEAD', url })).toMatchObject({ status: 422, text: '' });
      const anonymous = await sendTo(server.anonymous, request, { method: 'HEAD' });
      expect(anonymous).toMatchObject({ status: 401, text: '' });
    });
  }

  if (hasId) {
    test('400 for an id whose percent-encoding is not UTF-8', async () => {
      const { client, request } = await prepareOnce();
      const url = requestFor(operation, { id: '%ff' }).url;
      expect((await sendTo(client, request, { url })).status).toBe(400);
    });

    test.each([
      'not-a-uuid',
      '1',
      '%00',
      '0198f0000000700080000000000000000',
      "'%20or%20true--",
      '%F0%9F%98%80',
      '..%2f',
    ])('422 for the id %s, naming it', async (id) => {
      const { client, request } = await prepareOnce();
      const response = await sendTo(client, request, { url: requestFor(operation, { id }).url });
      expect(response.status).toBe(422);
      expect(Object.keys(response.body.errors)).toEqual(['id']);
    });
  }
});
