import { inspect } from 'node:util';
import { createClient } from '../../src/client/charter-client.ts';
import type { ClientOptions } from '../../src/client/settings.ts';
import { issueKeyByEmail, revokeKeyById } from '../../src/service/operator/keys.ts';
import { createClientOn, createTestClock } from '../support/clients/charter-client.ts';
import { hangsUp, respondsWith, staysSilent, useScriptedServer } from '../support/servers/scripted-server.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';
import { until } from '../support/wait.ts';

const PROGRAMS = '/api/parent_programs';

const server = await useServer();
const scripted = await useScriptedServer();

/** Creates a client whose `apiKey` returns the keys in turn, and then the last key again and again. */
function clientWith(keys: readonly unknown[], options: Partial<ClientOptions> = {}) {
  const asked = { times: 0 };
  // A program in JavaScript can return values that the types forbid.
  const apiKey = (async () => keys[Math.min(asked.times++, keys.length - 1)]) as ClientOptions['apiKey'];
  return { asked, charter: createClient({ baseUrl: scripted.url, apiKey, ...options }) };
}

const keysSent = () =>
  scripted.received.map(({ headers }) => headers.authorization?.replace('Bearer charter_test_', ''));

test('a client goes on with the new key after a rotation, and asks no more than that', async () => {
  const ours = await createTestOrganization(server);
  const second = await issueKeyByEmail(server.db, {
    email: ours.email,
    name: 'Second',
    permissions: ['parent_programs:read', 'parent_programs:write'],
    lifeDays: 1,
    environment: 'live',
  });
  const { asked, charter } = clientWith([ours.key, second.key], { baseUrl: server.url });
  const first = await charter.GET('/api/key');
  expect(first).toMatchObject({ status: 200, tries: 1 });
  if (first.ok) await revokeKeyById(server.db, first.data.id);
  expect(await charter.POST(PROGRAMS, { body: { name: 'Nordic' } })).toMatchObject({ status: 201, tries: 2 });
  expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 200, tries: 1 });
  expect(asked.times).toBe(2);
});

// The attack: an `apiKey` function that returns another key each time, so that the client retries without end.
test('a 401 is retried once, whatever the function returns, and even without retries', async () => {
  scripted.play(respondsWith(401));
  const { charter } = clientWith(['charter_test_a', 'charter_test_b', 'charter_test_c'], { retries: 0 });
  expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 401, tries: 2 });
  expect(keysSent()).toEqual(['a', 'b']);
});

test('a 401 is not retried with the same key', async () => {
  scripted.play(respondsWith(401));
  const { asked, charter } = clientWith(['charter_test_a']);
  expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 401, tries: 1 });
  expect(asked.times).toBe(2);
});

test('an update without If-Match is retried after a 401 too, because it was refused before anything was done', async () => {
  scripted.play(respondsWith(401), respondsWith(200));
  const { charter } = clientWith(['charter_test_a', 'charter_test_b']);
  const update = { params: { path: { id: 'x' } }, body: { name: 'Nordic' } };
  expect(await charter.PATCH('/api/parent_programs/{id}', update)).toMatchObject({ status: 200, tries: 2 });
});

test('a new key takes none of the retries', async () => {
  scripted.play(respondsWith(503), respondsWith(401), respondsWith(503), respondsWith(200));
  const keys = ['charter_test_a', 'charter_test_b'];
  const options = { baseUrl: scripted.url, apiKey: () => keys.shift(), retries: 2 };
  expect(await createClientOn(createTestClock(), options).GET(PROGRAMS)).toMatchObject({ status: 200, tries: 4 });
  expect(keysSent()).toEqual(['a', 'a', 'b', 'b']);
});

test('calls that start together, or are refused together, ask once', async () => {
  scripted.play((res, received) => {
    const isFirst = received.headers.authorization?.endsWith('_a') ?? false;
    respondsWith(isFirst ? 401 : 200)(res, received);
  });
  const { asked, charter } = clientWith(['charter_test_a', 'charter_test_b']);
  const results = await Promise.all(Array.from({ length: 8 }, () => charter.GET(PROGRAMS)));
  expect(results.map(({ status }) => status)).toEqual(Array(8).fill(200));
  expect(asked.times).toBe(2);
});

test('a synchronous function works, too', async () => {
  scripted.play(respondsWith(200));
  await createClient({ baseUrl: scripted.url, apiKey: () => 'charter_test_a' }).GET(PROGRAMS);
  expect(keysSent()).toEqual(['a']);
});

test('the call rejects with the error of the function, and the next call asks again', async () => {
  scripted.play(respondsWith(200));
  const failure = new Error('The vault is sealed.');
  let calls = 0;
  const apiKey = () => {
    calls += 1;
    if (calls === 1) throw failure;
    return 'charter_test_a';
  };
  const charter = createClient({ baseUrl: scripted.url, apiKey });
  await expect(charter.GET(PROGRAMS)).rejects.toBe(failure);
  expect(scripted.received).toEqual([]);
  expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 200 });
});

test('the time limits and the signal of a call include the function', async () => {
  const apiKey = () => new Promise<string>(() => {});
  const charter = createClient({ baseUrl: scripted.url, apiKey, timeoutMs: 20 });
  await expect(charter.GET(PROGRAMS)).rejects.toMatchObject({ name: 'TimeoutError', tries: 0 });
  const ending = new AbortController();
  const failing = charter.GET(PROGRAMS, { signal: ending.signal });
  ending.abort('no more');
  await expect(failing).rejects.toBe('no more');
});

test.each([undefined, '', 'Bearer charter_test_a', 'charter_test_a\n', 7])(
  'a malformed key from the function is a TypeError without the key, and nothing is sent: %j',
  async (malformed) => {
    scripted.play(respondsWith(200));
    const error = await clientWith([malformed])
      .charter.GET(PROGRAMS)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(TypeError);
    expect(String(error)).toMatch(/^TypeError: apiKey /);
    expect(inspect(error)).not.toContain('charter_test_a');
    expect(scripted.received).toEqual([]);
  },
);

test.each([
  ['broken connection', hangsUp],
  ['time-out', staysSilent],
])('the error of a %s holds no key of the function', async (_title, step) => {
  // On a busy machine, even the first response may time out. The test then tries again.
  const error = await until('an error of the second attempt', async () => {
    scripted.play(respondsWith(401), step);
    const { charter } = clientWith(['charter_test_a', 'charter_test_b'], { retries: 0, timeoutMs: 2000 });
    const thrown: unknown = await charter.GET(PROGRAMS).catch((cause: unknown) => cause);
    return Object(thrown).tries === 2 && thrown;
  });
  expect(inspect(error, { depth: 20, showHidden: true })).not.toMatch(/charter_test/);
});
