import { pino } from 'pino';
import { describeError } from '../../src/observability/logs.ts';
import { createFailureLog } from '../../src/observability/reporter.ts';

const violation = () =>
  Object.assign(new Error('new row violates check constraint "users_email_check"'), {
    code: '23514',
    detail: 'Failing row contains (ada@example.test)',
  });

test('the description of an error has its stack and its causes, and no other member', () => {
  const key = `charter_live_${'A'.repeat(46)}`;
  const text = describeError(new Error(`refused ${key} at postgres://charter:hidden@db/x`, { cause: violation() }));
  expect(text).toContain('users_email_check');
  expect(text).toContain('failure-log.test.ts');
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
