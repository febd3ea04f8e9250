import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CharterClient, createClient, TimeoutError } from '../../src/client/charter-client.ts';
import type { ClientOptions } from '../../src/client/settings.ts';
import { createClientOn, createTestClock } from '../support/charter-client.ts';
import {
  answers,
  type ScriptedServer,
  type Step,
  stallsMidway,
  startScriptedServer,
  staysSilent,
} from '../support/scripted-server.ts';
import { until } from '../support/wait.ts';

const PROGRAMS = '/api/parent_programs';
const busy = answers(503, { 'Retry-After': '60' });

let server: ScriptedServer;
beforeAll(async () => {
  server = await startScriptedServer();
});
afterAll(() => server.close());

function client(options: Partial<ClientOptions> = {}): CharterClient {
  return createClient({ baseUrl: server.url, apiKey: 'charter_test_key', ...options });
}

describe('a time-out', () => {
  test.each<[string, Step]>([
    ['ends a try that gets no answer', staysSilent],
    ['ends a try whose answer does not end', stallsMidway],
  ])('%s', async (_title, step) => {
    server.play(step);
    const failing = client({ timeoutMs: 20, retries: 0 }).GET(PROGRAMS);
    await expect(failing).rejects.toMatchObject({ name: 'TimeoutError', tries: 1, timeoutMs: 20 });
    await expect(failing).rejects.toThrow(/\/api\/parent_programs got no whole answer within 20 ms \(tried once\)$/);
  });

  test('is followed by a new try', async () => {
    server.play(staysSilent, stallsMidway, answers(200));
    const clock = createTestClock();
    const options = { timeoutMs: 500, retries: 10, totalTimeoutMs: 3_600_000 };
    const charter = createClientOn(clock, { baseUrl: server.url, apiKey: 'charter_test_key', ...options });
    const answer = await charter.GET(PROGRAMS);
    expect(answer.status).toBe(200);
    // More than three where the machine is so busy that the real answer comes late as well.
    expect(answer.tries).toBeGreaterThanOrEqual(3);
    expect(clock.waitsMs.slice(0, 2)).toEqual([250, 500]);
  });

  test('is cut to what the call has left', async () => {
    server.play(staysSilent);
    const failing = client({ totalTimeoutMs: 50 }).GET(PROGRAMS);
    await expect(failing).rejects.toMatchObject({ name: 'TimeoutError', tries: 1, timeoutMs: 50 });
  });

  test('ends a try even where the given fetch pays no heed', async () => {
    const charter = client({ timeoutMs: 20, retries: 0, fetch: () => new Promise(() => {}) });
    await expect(charter.GET(PROGRAMS)).rejects.toBeInstanceOf(TimeoutError);
  });
});

describe("the caller's signal", () => {
  test('ends a call before anything is sent', async () => {
    server.play(answers(200));
    await expect(client().GET(PROGRAMS, { signal: AbortSignal.abort('no more') })).rejects.toBe('no more');
    expect(server.received).toHaveLength(0);
  });

  test.each<[string, Step]>([
    ['while it waits for an answer', staysSilent],
    ['while an answer arrives', stallsMidway],
    ['while it waits to be sent again', busy],
  ])('ends a call %s', async (_title, step) => {
    const ending = new AbortController();
    server.play(step);
    const failing = client().GET(PROGRAMS, { signal: ending.signal });
    const isRefused = expect(failing).rejects.toBe('no more');
    await until('the request to arrive', () => server.received.length === 1);
    ending.abort('no more');
    await isRefused;
    expect(server.received).toHaveLength(1);
  });

  test('leaves nothing behind on a signal that lives on', async () => {
    const signal = new AbortController().signal;
    const held = new Set<unknown>();
    const add = signal.addEventListener.bind(signal);
    const remove = signal.removeEventListener.bind(signal);
    signal.addEventListener = (...parameters: Parameters<typeof add>) => {
      held.add(parameters[1]);
      add(...parameters);
    };
    signal.removeEventListener = (...parameters: Parameters<typeof remove>) => {
      held.delete(parameters[1]);
      remove(...parameters);
    };
    server.play(answers(503, { 'Retry-After': '0' }), answers(200));
    expect(await client().GET(PROGRAMS, { signal })).toMatchObject({ tries: 2 });
    expect(held.size).toBe(0);
  });
});
