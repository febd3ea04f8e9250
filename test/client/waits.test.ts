import { type CharterClient, createClient } from '../../src/client/charter-client.ts';
import type { ClientOptions } from '../../src/client/settings.ts';
import { createClientOn, createTestClock, type TestClock } from '../support/clients/charter-client.ts';
import {
  hangsUp,
  respondsWith,
  type ScriptedServer,
  startScriptedServer,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';

const PROGRAMS = '/api/parent_programs';
const busy = respondsWith(503, { 'Retry-After': '2' });
const fine = respondsWith(200);

const server = await useScriptedServer();

function client(options: Partial<ClientOptions> & { clock?: TestClock } = {}): CharterClient {
  const { clock = createTestClock(), ...rest } = options;
  return createClientOn(clock, { baseUrl: server.url, apiKey: 'charter_test_key', ...rest });
}

describe('the client waits', () => {
  async function waitsFor(
    steps: Parameters<ScriptedServer['play']>,
    options: Partial<ClientOptions> & { chance?: number } = {},
  ) {
    const { chance = 0, ...rest } = options;
    const clock = createTestClock({ chance });
    server.play(...steps);
    const response = await client({ clock, ...rest }).GET(PROGRAMS);
    return { status: response.status, tries: response.tries, waitsMs: clock.waitsMs };
  }

  test('for the seconds of Retry-After, plus a small random delay', async () => {
    expect(await waitsFor([busy, fine])).toEqual({ status: 200, tries: 2, waitsMs: [2000] });
    const { waitsMs } = await waitsFor([busy, fine], { chance: 1 });
    expect(waitsMs).toEqual([2500]);
  });

  test("until the date of Retry-After, by the server's clock", async () => {
    // This server's clock is years behind the client's.
    const late = respondsWith(503, {
      Date: 'Fri, 01 Jan 2021 10:00:00 GMT',
      'Retry-After': 'Fri, 01 Jan 2021 10:00:07 GMT',
    });
    expect(await waitsFor([late, fine])).toMatchObject({ status: 200, waitsMs: [7000] });
    const past = respondsWith(503, {
      Date: 'Fri, 01 Jan 2021 10:00:00 GMT',
      'Retry-After': 'Fri, 01 Jan 2021 09:00:00 GMT',
    });
    expect(await waitsFor([past, fine])).toMatchObject({ status: 200, waitsMs: [0] });
  });

  test.each(['soon', '-1', '1.5', ''])('as long as without Retry-After if its value is "%s"', async (value) => {
    expect(await waitsFor([respondsWith(503, { 'Retry-After': value }), fine])).toMatchObject({ waitsMs: [250] });
  });

  test('otherwise twice as long after each attempt, up to eight seconds, half of it random', async () => {
    const doubling = [500, 1000, 2000, 4000, 8000, 8000, 8000];
    const steps: Parameters<ScriptedServer['play']> = [respondsWith(503)];
    expect(await waitsFor(steps, { retries: 7, chance: 1 })).toEqual({ status: 503, tries: 8, waitsMs: doubling });
    expect((await waitsFor(steps, { retries: 7 })).waitsMs).toEqual(doubling.map((ms) => ms / 2));
  });
});

describe('the client gives up', () => {
  test('after three attempts, with the last response', async () => {
    server.play(busy, busy, respondsWith(503, {}, { message: 'Still not.' }));
    const response = await client().GET(PROGRAMS);
    expect(response).toMatchObject({ status: 503, tries: 3, error: { message: 'Still not.' } });
    expect(server.received).toHaveLength(3);
  });

  test('after the first attempt if retries are disabled', async () => {
    server.play(busy, fine);
    expect(await client({ retries: 0 }).GET(PROGRAMS)).toMatchObject({ status: 503, tries: 1 });
  });

  test('with an error that names the number of attempts if no response arrived', async () => {
    server.play(hangsUp);
    const failing = client().GET(PROGRAMS, { params: { query: { search: 'private' } } });
    await expect(failing).rejects.toMatchObject({ name: 'NetworkError', tries: 3 });
    await expect(failing).rejects.toThrow(
      /^GET http:\/\/127\.0\.0\.1:\d+\/api\/parent_programs got no response: .+ \(tried 3 times\)$/,
    );
  });

  test('at once if Retry-After exceeds the time left for the call', async () => {
    const clock = createTestClock();
    server.play(respondsWith(503, { 'Retry-After': '3600' }), fine);
    const response = await client({ clock }).GET(PROGRAMS);
    expect(response).toMatchObject({ status: 503, tries: 1 });
    expect(response.headers.get('Retry-After')).toBe('3600');
    expect(clock.waitsMs).toEqual([]);
  });

  test('when the time-out of the whole call has passed', async () => {
    const clock = createTestClock();
    server.play(respondsWith(503, { 'Retry-After': '40' }));
    expect(await client({ clock, retries: 10 }).GET(PROGRAMS)).toMatchObject({ status: 503, tries: 3 });
    expect(clock.waitsMs).toEqual([40_000, 40_000]);
  });

  test('only after retries if the server is unreachable', async () => {
    const gone = await startScriptedServer();
    await gone.close();
    await expect(client({ baseUrl: gone.url }).GET('/api/key')).rejects.toThrow(/ECONNREFUSED.*tried 3 times/);
  });
});

test('a retry waits for the time of Retry-After on the real clock', async () => {
  const charter = createClient({ baseUrl: server.url, apiKey: 'charter_test_key' });
  server.play(respondsWith(503, { 'Retry-After': '1' }), fine);
  const startedAt = performance.now();
  expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 200, tries: 2 });
  // Node's timers may fire a millisecond early.
  expect(performance.now() - startedAt).toBeGreaterThan(990);
});
