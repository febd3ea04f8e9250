import { sufficientPermissionsOf } from '../../src/contract/document.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { operations } from '../support/contract/contract.ts';
import { prepare, requestFor, sendTo } from '../support/contract/every-operation.ts';
import { tableOf } from '../support/contract/resources.ts';
import { STOPPED_URL, withoutTable } from '../support/postgres/postgres.ts';
import { useServer } from '../support/servers/server.ts';

const BUG =
  'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.';
const OUTAGE = 'The service is temporarily unavailable. Try again in a few seconds.';

const [server, cutOff] = await Promise.all([useServer(), useServer({ databaseUrl: STOPPED_URL })]);

describe.each(operations)('$operationId', (operation) => {
  // The attack: provoking errors to learn about tables, SQL queries and versions from their messages.
  test('500 that does not reveal the cause, if its statement fails; it works again afterwards', async () => {
    const { client, request } = await prepare(server, operation);
    // The only SQL query of an operation without a permission is the look-up of its key.
    const table = sufficientPermissionsOf(operation).length === 0 ? 'api_keys' : tableOf(operation);
    const response = await withoutTable(server.db, table, () => sendTo(client, request));
    expect(response).toMatchObject({ status: 500, body: { message: BUG } });
    expect((await sendTo(client, request)).status).toBeLessThan(300);
  });

  // The attack: a flood of invented keys that keeps the database busy.
  test('while the database is stopped, 503 with Retry-After that does not reveal the cause, and 401 for a mistyped key, because its checksum needs no query', async () => {
    const request = requestFor(operation, { id: crypto.randomUUID() });
    const { key } = mintKey('live');
    const response = await sendTo(cutOff.anonymous, request, { key });
    expect(response).toMatchObject({ status: 503, body: { message: OUTAGE } });
    expect(Number(response.headers['retry-after'])).toBeGreaterThan(0);
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(await sendTo(cutOff.anonymous, request, { key: mistyped })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="charter", error="invalid_token"' },
    });
    expect((await sendTo(cutOff.anonymous, request)).status).toBe(401);
  });
});
