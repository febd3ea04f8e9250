import { sufficientPermissionsOf } from '../../src/contract/document.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { PERMISSIONS } from '../../src/domain/people/role.ts';
import { suspendOrganization } from '../../src/service/operator/organizations.ts';
import { operations } from '../support/contract/contract.ts';
import { prepare, sendTo, withQuery } from '../support/contract/every-operation.ts';
import { snapshotOf } from '../support/contract/resources.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const server = await useServer();

/** A request that is invalid in everything except its path and its method. */
const WRONG_THROUGHOUT = {
  headers: { Accept: 'text/html', 'Content-Type': 'text/plain', 'If-Match': 'x', 'Idempotency-Key': ' ' },
  body: '{',
};

describe.each(operations)('$operationId', (operation) => {
  // The attack: an anonymous request.
  test('401 without a key, and nothing changes', async () => {
    const { client, request } = await prepare(server, operation);
    const before = await snapshotOf(client);
    const response = await sendTo(server.anonymous, request);
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="charter"');
    expect(await snapshotOf(client)).toBe(before);
  });

  // The attack: a guessed, well-formed key with a correct checksum.
  test('401 invalid_token for an unknown key', async () => {
    const { request } = await prepare(server, operation);
    const { key } = mintKey('live');
    const response = await sendTo(server.anonymous, request, { key });
    expect(response.status).toBe(401);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="charter", error="invalid_token"');
    expect(response.text).not.toContain(key);
  });

  test('403 for a suspended organization, without naming a scope', async () => {
    const { ours, client, request } = await prepare(server, operation);
    await suspendOrganization(server.db, ours.id);
    const response = await sendTo(client, request);
    expect(response.status).toBe(403);
    expect(response.headers['www-authenticate']).toBe('Bearer realm="charter", error="insufficient_scope"');
    expect(Object.keys(response.body)).toEqual(['message']);
  });

  // The attack: probing without a key. Different responses would reveal what exists and how it is validated.
  test('401 takes precedence over every other fault, with the message of a missing key', async () => {
    const { request } = await prepare(server, operation);
    const plain = await sendTo(server.anonymous, request);
    const wrong = { ...WRONG_THROUGHOUT, url: `${withQuery(request.url, 'verbose=1')}&limit=0&search=%ff` };
    const response = await sendTo(server.anonymous, request, wrong);
    expect(response).toMatchObject({ status: 401, text: plain.text });
    const badId = request.url.replace(/[^/]{36}$/, '%ff');
    expect(await sendTo(server.anonymous, request, { ...wrong, url: badId })).toMatchObject({
      status: 401,
      text: plain.text,
    });
  });

  const permissions = sufficientPermissionsOf(operation);
  if (permissions.length === 0) {
    test.each(PERMISSIONS)('accepts a key that has only %s', async (only) => {
      const { client } = await createTestOrganization(server, { permissions: [only] });
      const { request } = await prepare(server, operation);
      expect((await sendTo(client, request)).status).toBe(200);
    });
    return;
  }

  const others = PERMISSIONS.filter((each) => !permissions.includes(each));

  // The attack: a leaked key is used beyond its permissions.
  test(`403 for a key without ${permissions}, and nothing changes`, async () => {
    const { ours, client, request } = await prepare(server, operation);
    const before = await snapshotOf(client);
    const allow = (permissions: readonly string[]) =>
      server.db.prisma.apiKey.updateMany({
        where: { organizationId: ours.id },
        data: { permissions: [...permissions] },
      });
    await allow(others);
    const response = await sendTo(client, request);
    expect(response.status).toBe(403);
    expect(response.headers['www-authenticate']).toBe(
      `Bearer realm="charter", error="insufficient_scope", scope="${permissions[0]}"`,
    );
    expect(response.body).toEqual({ message: `This API key lacks the permission ${permissions.join(' or ')}.` });
    await allow(PERMISSIONS);
    expect(await snapshotOf(client)).toBe(before);
  });

  // The attack: a key without the permission learns about rows and validation from the refusals.
  test('403 takes precedence over every other fault', async () => {
    const { ours, client, request } = await prepare(server, operation);
    await server.db.prisma.apiKey.updateMany({ where: { organizationId: ours.id }, data: { permissions: others } });
    const plain = await sendTo(client, request);
    const url = withQuery(request.url.replace(/[^/]{36}$/, crypto.randomUUID()), 'search=%ff');
    expect(await sendTo(client, request, { ...WRONG_THROUGHOUT, url })).toMatchObject({
      status: 403,
      text: plain.text,
    });
  });
});
