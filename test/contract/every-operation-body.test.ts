import { gzipSync } from 'node:zlib';
import { exchangeRaw, parseRaw, rawRequest } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { maxBodyBytesOf, type Prepared, prepare, sendTo, successOf } from '../support/contract/every-operation.ts';
import { useServer } from '../support/servers/server.ts';

const server = await useServer();

const taking = operations.filter(({ requestBody }) => requestBody !== undefined);

describe.each(taking)('$operationId', (operation) => {
  const maxBytes = maxBodyBytesOf(operation);
  let shared: Promise<Prepared> | undefined;
  /** Prepares data once for all refused requests, because refused requests change nothing. */
  const prepareOnce = (): Promise<Prepared> => {
    shared ??= prepare(server, operation);
    return shared;
  };

  test.each([
    ['an unterminated object', '{"name": "x"'],
    ['no JSON at all', 'name=x'],
    ['two values', '{} {}'],
    ['a comma too much', '{"name": "x",}'],
    ['only spaces', '   '],
    ['bytes that are not UTF-8', Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d])],
    ['UTF-16', Buffer.from('{"name":"x"}', 'utf16le')],
    ['an encoded lone surrogate', Buffer.from('7b226e616d65223a22eda080227d', 'hex')],
  ])('400 for a body of %s', async (_, body) => {
    const { client, request } = await prepareOnce();
    expect((await sendTo(client, request, { body })).status).toBe(400);
  });

  test('400 for a body that ends before its Content-Length', async () => {
    const { ours, request } = await prepareOnce();
    const headers = [`Authorization: Bearer ${ours.key}`, 'Content-Type: application/json', 'Content-Length: 500'];
    const text = rawRequest(`${request.method} ${request.url}`, headers, '{"name": "Half');
    const response = parseRaw(await exchangeRaw(server.url, text, { endAfterSending: true }));
    expect(response.status).toBe(400);
    expect(response.headers['content-type']).toBe('application/json; charset=utf-8');
  });

  test.each([
    ['with a Content-Length', {}],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('413 for more than the largest body sent %s', async (_, headers) => {
    const { client, request } = await prepareOnce();
    const body = JSON.stringify({ name: 'x'.repeat(maxBytes) });
    expect((await sendTo(client, request, { body, headers })).status).toBe(413);
  });

  test.each([
    ['with a Content-Length', {}],
    ['in chunks', { 'Transfer-Encoding': 'chunked' }],
  ])('accepts exactly the largest body sent %s, and 413 for one byte more', async (_, headers) => {
    const { client, request } = await prepare(server, operation);
    const text = JSON.stringify(request.body);
    const body = text + ' '.repeat(maxBytes - Buffer.byteLength(text));
    expect((await sendTo(client, request, { body, headers })).status).toBe(successOf(operation));
    expect((await sendTo(client, request, { body: `${body} `, headers })).status).toBe(413);
  });

  test.each([
    ['text/plain', { 'Content-Type': 'text/plain' }],
    ['no media type', { 'Content-Type': undefined }],
    ['an empty media type', { 'Content-Type': '' }],
    ['a form', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    ['a media type with the same prefix', { 'Content-Type': 'application/jsonx' }],
    ['JSON in Latin-1', { 'Content-Type': 'application/json; charset=latin1' }],
    ['JSON in two charsets', { 'Content-Type': 'application/json; charset=utf-8; charset=utf-16' }],
    ['an unknown compression', { 'Content-Encoding': 'br, gzip' }],
  ])('415 for %s', async (_, headers) => {
    const { client, request } = await prepareOnce();
    expect((await sendTo(client, request, { headers })).status).toBe(415);
  });

  // The attack: a decompression bomb, a few bytes that expand to gigabytes.
  test('415 for a compressed body', async () => {
    const { client, request } = await prepareOnce();
    const body = gzipSync(JSON.stringify(request.body));
    expect((await sendTo(client, request, { body, headers: { 'Content-Encoding': 'gzip' } })).status).toBe(415);
  });

  test.each([
    ['application/json; charset=utf-8', 'identity'],
    ['APPLICATION/JSON;charset="UTF-8"', 'IDENTITY'],
    ['application/json ; version=1', 'identity'],
  ])('accepts %s with the encoding %s', async (type, encoding) => {
    const { client, request } = await prepare(server, operation);
    const headers = { 'Content-Type': type, 'Content-Encoding': encoding };
    expect((await sendTo(client, request, { headers })).status).toBe(successOf(operation));
  });

  test.each([
    ['no body', undefined, {}],
    ['a media type without a body', undefined, { 'Content-Type': 'application/json' }],
    ['no byte in chunks', undefined, { 'Content-Length': '0', 'Content-Type': 'application/json' }],
  ])('422 for %s, naming the body', async (_, body, headers) => {
    const { client, request } = await prepareOnce();
    const response = await client.send(request.method, request.url, { body, headers });
    expect(response.status).toBe(422);
    expect(response.body).toEqual({ message: 'body is required.', errors: { body: ['is required.'] } });
  });

  test.each(['[]', 'null', '"x"', '3', 'true', '[{"name":"x"}]'])('422 for the body %s, naming it', async (body) => {
    const { client, request } = await prepareOnce();
    const response = await sendTo(client, request, { body });
    expect(response.status).toBe(422);
    expect(response.body.errors).toEqual({ body: ['must be an object.'] });
  });

  // The attack: deep nesting that exhausts the stack of the parser or of the validator.
  test('422, not 500, for fifty thousand nested arrays', async () => {
    const { client, request } = await prepareOnce();
    const body = `{"metadata":${'['.repeat(50_000)}${']'.repeat(50_000)}}`;
    expect((await sendTo(client, request, { body })).status).toBe(422);
  });
});

test.each(operations.filter(({ requestBody }) => requestBody === undefined))(
  '$operationId ignores any request body',
  async (operation) => {
    const { client, request } = await prepare(server, operation);
    const response = await sendTo(client, request, { body: '{"name":', headers: { 'Content-Type': 'text/plain' } });
    expect(response.status).toBe(successOf(operation));
  },
);
