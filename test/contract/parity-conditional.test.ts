import type { Client } from '../support/clients/client.ts';
import { operations } from '../support/contract/contract.ts';
import { prepare, sendTo, successOf } from '../support/contract/every-operation.ts';
import { differenceOf, exactLikeness } from '../support/contract/parity.ts';
import { createRow, resourceOf } from '../support/contract/resources.ts';
import { copyRow } from '../support/postgres/postgres.ts';
import { useMock } from '../support/servers/mock.ts';
import { useServer } from '../support/servers/server.ts';

const [server, mock] = await Promise.all([useServer(), useMock()]);

const taking = (name: string) =>
  operations.filter(({ parameters = [] }) => parameters.some((parameter) => parameter.name === name));

const HEADERS: Record<string, (tag: string) => string> = {
  own: (tag) => tag,
  any: () => '*',
  weak: (tag) => `W/${tag}`,
  'among others': (tag) => `"x" , ${tag}`,
  'an empty one': () => '""',
  'the example of the contract': () => '"5PCSWvuqX5dplNHdfbjbVq"',
};
const KINDS = Object.keys(HEADERS);

describe.each(taking('If-None-Match').filter(({ responses }) => responses[304] !== undefined))(
  '$operationId',
  (operation) => {
    let prepared: ReturnType<typeof prepareFull> | undefined;
    const prepareFull = async () => {
      const { ours, client, request } = await prepare(server, operation);
      await copyRow(server.db, { organizationId: ours.id, table: resourceOf(operation).table }, 29);
      return { client, request };
    };

    test.each(KINDS)('If-None-Match: %s', async (kind) => {
      prepared ??= prepareFull();
      const { client, request } = await prepared;
      const send = async (to: Client) => {
        const tag = (await sendTo(to, request)).headers['etag'] ?? '';
        return sendTo(to, request, { headers: { 'If-None-Match': HEADERS[kind]?.(tag) } });
      };
      const sides = { server: await send(client), mock: await send(mock.client) };
      expect(sides.server.status).toBe(KINDS.indexOf(kind) < 4 ? 304 : 200);
      expect(differenceOf(operation, kind, sides, exactLikeness)).toBeNull();
    });
  },
);

describe.each(taking('If-Match'))('$operationId', (operation) => {
  test.each([...KINDS, 'of another row'])('If-Match: %s', async (kind) => {
    const { client, request } = await prepare(server, operation);
    const resource = resourceOf(operation);
    const other = `${resource.path}/${await createRow(client, resource, { name: 'Another' })}`;
    const send = async (to: Client) => {
      // The row of an action is at the URL before the verb: "/api/parent_programs/{id}" before "/archive".
      const own = () =>
        operation.method === 'put'
          ? sendTo(to, request)
          : to.get(/^(?:\/[^/?]+){2}(?:\/by_\w+)?\/[^/?]+/.exec(request.url)?.[0] ?? '');
      const tag = (await (kind === 'of another row' ? to.get(other) : own())).headers['etag'] ?? '';
      return sendTo(to, request, { headers: { 'If-Match': HEADERS[kind]?.(tag) ?? tag } });
    };
    const sides = { server: await send(client), mock: await send(mock.client) };
    const isTaken = ['own', 'any', 'among others'].includes(kind);
    expect(sides.server.status).toBe(isTaken ? successOf(operation) : 412);
    expect(differenceOf(operation, kind, sides, exactLikeness)).toBeNull();
  });
});

describe.each(taking('If-None-Match').filter(({ method }) => method !== 'get'))('$operationId', (operation) => {
  test.each(KINDS)('If-None-Match: %s', async (kind) => {
    const { client, request } = await prepare(server, operation);
    const send = async (to: Client) => {
      const tag = (await sendTo(to, request)).headers['etag'] ?? '';
      return sendTo(to, request, { headers: { 'If-None-Match': HEADERS[kind]?.(tag) } });
    };
    const sides = { server: await send(client), mock: await send(mock.client) };
    expect(sides.server.status).toBe(KINDS.indexOf(kind) < 4 ? 412 : 200);
    expect(differenceOf(operation, kind, sides, exactLikeness)).toBeNull();
  });
});
