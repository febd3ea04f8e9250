import { pino } from 'pino';
import { describeError } from '../../src/observability/logs.ts';
import { createFailureLog, createOverloadLog, createUnreadableLog } from '../../src/observability/reporter.ts';
import { until } from '../support/wait.ts';

const violation = () =>
  Object.assign(new Error('new row violates check constraint "users_email_check"'), {
    code: '23514',
    detail: 'Failing row contains (ada@example.test)',
  });

test('the description of an error has its stack and its causes, and no other member', () => {
  const key = `charter_live_${'A'.repeat(46)}`;
  const text = describeError(new Error(`refused ${key} at postgres://charter:hidden@db/x`, { cause: violation() }));
  expect(text).toContain('users_email_check');
  expect(text).toContain('reporter.test.ts');
  for (const secret of [key, 'hidden', 'ada@example.test']) expect(text).not.toContain(secret);
});

test('causes that refer to each other end', () => {
  const error = new Error('first');
  error.cause = error;
  expect(describeError(error).match(/caused by/g)).toHaveLength(5);
});

test('each failed request has a line, and in an outage only the first has the error', () => {
  const lines: Record<string, unknown>[] = [];
  const logFailure = createFailureLog(pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) }), null);
  for (const requestId of ['a', 'b', 'c'])
    logFailure(Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }), requestId);
  logFailure(violation(), 'd');
  logFailure(violation(), 'e');
  expect(lines.map(({ requestId, msg }) => [requestId, msg])).toEqual(
    ['a', 'b', 'c', 'd', 'e'].map((requestId) => [requestId, 'a request failed']),
  );
  expect(lines.map(({ err }) => err !== undefined)).toEqual([true, false, false, true, true]);
});

test('of many refusals under load, the first has a line at once, and stopping logs the number of all others', () => {
  const lines: Record<string, unknown>[] = [];
  const { log, stop } = createOverloadLog(pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) }));
  log('api');
  const first = { level: 40, msg: 'refused requests under load', refused: { api: 1 } };
  expect(lines).toMatchObject([first]);
  for (let i = 0; i < 1000; i += 1) log(i < 700 ? 'api' : 'dashboard');
  expect(lines).toHaveLength(1);
  stop();
  expect(lines).toMatchObject([first, { ...first, refused: { api: 700, dashboard: 300 } }]);
  stop();
  expect(lines).toHaveLength(2);
});

const seen = (status: number) => ({ requestId: crypto.randomUUID(), status, code: 'HPE_INVALID_METHOD' });

// The attack: filling the disk with log lines, each for a request that costs its client only a few bytes.
test('of many malformed requests, ten have a line each, and the others are counted by status in one line', async () => {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) });
  const { log, stop } = createUnreadableLog(logger, { everyMs: 20 });
  const requests = Array.from({ length: 1000 }, (_, i) => seen(i < 700 ? 400 : 408));
  for (const request of requests) log(request);
  const ten = requests
    .slice(0, 10)
    .map((request) => ({ ...request, level: 30, msg: 'unreadable or incomplete HTTP request' }));
  expect(lines).toMatchObject(ten);
  await until('the count', () => lines.length > 10);
  expect(lines.slice(10)).toMatchObject([
    { level: 30, msg: 'further unreadable or incomplete HTTP requests', statuses: { 400: 690, 408: 300 } },
  ]);
  // The next ten seconds begin.
  log(seen(414));
  expect(lines.slice(11)).toMatchObject([{ status: 414, msg: 'unreadable or incomplete HTTP request' }]);
  stop();
});

test('stopping logs the count at once, and only if there is one', () => {
  const lines: Record<string, unknown>[] = [];
  const { log, stop } = createUnreadableLog(pino({ base: null }, { write: (line) => lines.push(JSON.parse(line)) }));
  for (let i = 0; i < 12; i += 1) log(seen(400));
  stop();
  expect(lines.slice(10)).toMatchObject([
    { msg: 'further unreadable or incomplete HTTP requests', statuses: { 400: 2 } },
  ]);
  stop();
  expect(lines).toHaveLength(11);
});
