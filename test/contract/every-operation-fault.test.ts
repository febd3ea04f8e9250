import { mintKey } from '../../src/domain/api-key.ts';
import { operations } from '../support/contract.ts';
import { permissionOf, prepare, requestFor, sendTo } from '../support/every-operation.ts';
import { startServer, type TestServer } from '../support/server.ts';

const BUG =
  'Something went wrong on our side. Try again. If it happens again, contact support and quote the X-Request-Id.';
const OUTAGE = 'The service is temporarily unavailable. Try again in a few seconds.';
/** Nothing listens on the port: a database that is stopped. */
const STOPPED = 'postgresql://charter:secret-of-the-database@127.0.0.1:1/charter';

let server: TestServer;
let cutOff: TestServer;
beforeAll(async () => {
  [server, cutOff] = await Promise.all([startServer(), startServer({ databaseUrl: STOPPED })]);
});
afterAll(() => Promise.all([server.close(), cutOff.close()]));

describe.each(operations)('$operationId', (operation) => {
  // Attack: provoking errors to learn about tables, statements and versions from what they say.
  test('500 without a word of the cause, where looking up the key fails', async () => {
    const { client, request } = await prepare(server, operation);
    const answer = await whileRenamed('api_keys', () => sendTo(client, request));
    expect(answer).toMatchObject({ status: 500, body: { message: BUG } });
  });

  if (permissionOf(operation) !== undefined) {
    test('500 without a word of the cause, where its own statement fails; it works again afterwards', async () => {
      const { client, request } = await prepare(server, operation);
      const answer = await whileRenamed('parent_programs', () => sendTo(client, request));
      expect(answer).toMatchObject({ status: 500, body: { message: BUG } });
      expect((await sendTo(client, request)).status).toBeLessThan(300);
    });
  }

  test('503 with Retry-After, without a word of the cause, while the database is stopped', async () => {
    const request = requestFor(operation, { id: crypto.randomUUID() });
    const answer = await sendTo(cutOff.anonymous, request, { key: mintKey('live').key });
    expect(answer).toMatchObject({ status: 503, body: { message: OUTAGE } });
    expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0);
  });

  // Attack: a flood of invented keys, to keep the database busy.
  test('401 for a mistyped key even while the database is stopped: it is not asked', async () => {
    const request = requestFor(operation, { id: crypto.randomUUID() });
    const { key } = mintKey('live');
    const mistyped = `${key.slice(0, -1)}${key.endsWith('0') ? '1' : '0'}`;
    expect(await sendTo(cutOff.anonymous, request, { key: mistyped })).toMatchObject({
      status: 401,
      headers: { 'www-authenticate': 'Bearer realm="charter", error="invalid_token"' },
    });
    expect((await sendTo(cutOff.anonymous, request)).status).toBe(401);
  });
});

/** The tests of a file run one after another, so no other test meets the missing table. */
async function whileRenamed<T>(table: string, work: () => Promise<T>): Promise<T> {
  await server.db.pool.query(`alter table ${table} rename to away`);
  try {
    return await work();
  } finally {
    await server.db.pool.query(`alter table away rename to ${table}`);
  }
}
