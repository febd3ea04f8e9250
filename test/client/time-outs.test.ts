import { type CharterClient, createClient, TimeoutError } from '../../src/client/charter-client.ts';
import { realClock } from '../../src/client/sending.ts';
import type { ClientOptions } from '../../src/client/settings.ts';
import { createClientOn, createTestClock } from '../support/clients/charter-client.ts';
import {
  respondsWith,
  type Step,
  stallsMidway,
  staysSilent,
  useScriptedServer,
} from '../support/servers/scripted-server.ts';
import { until } from '../support/wait.ts';

const PROGRAMS = '/api/parent_programs';
const busy = respondsWith(503, { 'Retry-After': '60' });

const server = await useScriptedServer();

function options(): ClientOptions {
  return { baseUrl: server.url, apiKey: 'charter_test_key' };
}

function client(others: Partial<ClientOptions> = {}): CharterClient {
  return createClient({ ...options(), ...others });
}

/** Returns the number of timers that would keep a program running. */
function timers(): number {
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
}

describe('a time-out', () => {
  test.each<[string, Step]>([
    ['ends an attempt that gets no response', staysSilent],
    ['ends an attempt whose response does not end', stallsMidway],
  ])('%s', async (_title, step) => {
    server.play(step);
    const failing = client({ timeoutMs: 20, retries: 0 }).GET(PROGRAMS);
    await expect(failing).rejects.toMatchObject({ name: 'TimeoutError', tries: 1, timeoutMs: 20 });
    await expect(failing).rejects.toThrow(
      /\/api\/parent_programs got no complete response within 20 ms \(tried once\)$/,
    );
  });

  test('leads to a retry', async () => {
    const clock = createTestClock();
    const silent = () => new Promise<Response>(() => {});
    // This response comes immediately and not from the network, which may be slow on a busy machine.
    const prompt = async () => Response.json({ data: [] });
    const tries = [silent, silent, prompt];
    const charter = createClientOn(clock, { ...options(), timeoutMs: 20, fetch: () => (tries.shift() ?? prompt)() });
    expect(await charter.GET(PROGRAMS)).toMatchObject({ status: 200, tries: 3 });
    expect(clock.waitsMs).toEqual([250, 500]);
  });

  test('is limited to the time left for the call', async () => {
    server.play(staysSilent);
    const call = client({ totalTimeoutMs: 50 }).GET(PROGRAMS);
    const error = await call.catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: 'TimeoutError', tries: 1 });
    // The call may have taken a few milliseconds before it sent the request.
    expect(Object(error).timeoutMs).toBeLessThanOrEqual(50);
  });

  test('leaves no timer behind once the response has arrived', async () => {
    const before = timers();
    await client({ fetch: async () => Response.json({ data: [] }) }).GET(PROGRAMS);
    expect(timers()).toBe(before);
  });

  test('ends an attempt even if a custom fetch ignores its signal', async () => {
    const charter = client({ timeoutMs: 20, retries: 0, fetch: () => new Promise(() => {}) });
    await expect(charter.GET(PROGRAMS)).rejects.toBeInstanceOf(TimeoutError);
  });
});

describe("the caller's signal", () => {
  test('ends a call before anything is sent', async () => {
    server.play(respondsWith(200));
    await expect(client().GET(PROGRAMS, { signal: AbortSignal.abort('no more') })).rejects.toBe('no more');
    expect(server.received).toHaveLength(0);
  });

  type Moment = 'sent' | 'begun' | 'waiting';
  test.each<[string, Step, Moment]>([
    ['while it waits for a response', staysSilent, 'sent'],
    ['while a response arrives', stallsMidway, 'begun'],
    ['while it waits for a retry', busy, 'waiting'],
  ])('ends a call %s', async (_title, step, moment) => {
    const ending = new AbortController();
    const seen: Moment[] = [];
    const wait: typeof realClock.wait = (milliseconds, signal) => {
      seen.push('waiting');
      return realClock.wait(milliseconds, signal);
    };
    const noting = async (request: Request) => {
      seen.push('sent');
      const response = await fetch(request);
      seen.push('begun');
      return response;
    };
    server.play(step);
    const charter = createClientOn({ ...realClock, wait }, { ...options(), fetch: noting });
    const isRefused = expect(charter.GET(PROGRAMS, { signal: ending.signal })).rejects.toBe('no more');
    await until(`it to be ${moment}`, () => seen.at(-1) === moment);
    ending.abort('no more');
    await isRefused;
    expect(seen.at(-1)).toBe(moment);
  });

  test('leaves no timer behind when it ends a wait', async () => {
    const ending = new AbortController();
    const before = timers();
    const isRefused = expect(realClock.wait(60_000, ending.signal)).rejects.toBe('no more');
    expect(timers()).toBe(before + 1);
    ending.abort('no more');
    expect(timers()).toBe(before);
    await isRefused;
  });

  test('leaves no listener behind on a long-lived signal', async () => {
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
    server.play(respondsWith(503, { 'Retry-After': '0' }), respondsWith(200));
    expect(await client().GET(PROGRAMS, { signal })).toMatchObject({ tries: 2 });
    expect(held.size).toBe(0);
  });
});
