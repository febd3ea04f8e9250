import { pino } from 'pino';
import { createOverloadLog } from '../../src/observability/reporter.ts';

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
