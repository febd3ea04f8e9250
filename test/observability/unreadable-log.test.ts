import { pino } from 'pino';
import { createUnreadableLog } from '../../src/observability/reporter.ts';
import { until } from '../support/wait.ts';

const seen = (status: number) => ({ requestId: crypto.randomUUID(), status, code: 'HPE_INVALID_METHOD' });

// The attack: filling the disk, a line for each request that costs its client a few bytes.
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
  // Then the next ten seconds begin.
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
