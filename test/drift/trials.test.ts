import type { Lie } from '../../scripts/drift/lie.ts';
import { tableOf } from '../../scripts/drift/table.ts';
import { type Trial, tryAll } from '../../scripts/drift/trials.ts';

const VERSION = { file: 'openapi/released/1.0.1.yaml', find: '  version: 1.0.1' };
const GUIDE = 'openapi/guides/getting-started.md';

const CAUGHT: Lie = { title: 'caught', edits: [{ ...VERSION, replace: '  version: 1.0.2' }], caughtBy: 'release' };
const UNCAUGHT: Lie = {
  ...{ title: 'not caught', caughtBy: 'release' },
  edits: [{ file: GUIDE, find: '# Getting started\n', replace: '# Getting nowhere\n' }],
};
const MISFIT: Lie = {
  ...{ title: 'does not fit', caughtBy: 'release' },
  edits: [{ file: GUIDE, find: 'This stands nowhere.', replace: '' }],
};

test('each planted fault is reported as caught, not caught or no longer fitting, and is removed after its trial', async () => {
  const trials: Trial[] = [];
  // Leftovers of an earlier fault would make the last one count as caught.
  await tryAll(
    [CAUGHT, MISFIT, CAUGHT, UNCAUGHT, UNCAUGHT],
    () => true,
    (trial) => trials.push(trial),
  );
  const outcomes = trials.map(({ lie, isCaught }) => `${lie.title}: ${isCaught}`).sort();
  expect(outcomes).toEqual([
    'caught: true',
    'caught: true',
    'does not fit: false',
    'not caught: false',
    'not caught: false',
  ]);
  const line = trials.find(({ lie }) => lie === MISFIT)?.line;
  expect(line).toBe(`Its text stands 0 times in ${GUIDE}, not once. Mend the lie.`);
});

test('the table names every fault that was not caught', () => {
  const table = tableOf([
    { lie: CAUGHT, isCaught: true, line: 'It calls itself | 1.0.2.', seconds: 1.25 },
    { lie: UNCAUGHT, isCaught: false, line: '', seconds: 0.5 },
  ]);
  expect(table).toContain('| caught | release check | It calls itself \\| 1.0.2. | 1.3 |');
  expect(table).toContain('| not caught | **nothing** |  | 0.5 |');
  expect(table).toContain('| nothing | 1 |');
});
