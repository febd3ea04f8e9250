import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Fault } from '../../scripts/drift/faults.ts';
import { type Trial, tryAll } from '../../scripts/drift/trials.ts';

const released = readdirSync(join(import.meta.dirname, '../../openapi/released')).map((file) =>
  file.replace('.yaml', ''),
);
const newest = released.toSorted(new Intl.Collator('en', { numeric: true }).compare).at(-1);
const VERSION_LINE = { file: `openapi/released/${newest}.yaml`, find: `  version: ${newest}` };
const GUIDE = 'openapi/guides/getting-started.md';

const CAUGHT: Fault = { title: 'caught', ...VERSION_LINE, replace: '  version: 99.0.0', caughtBy: 'release' };
const UNCAUGHT: Fault = {
  title: 'not caught',
  caughtBy: 'release',
  file: GUIDE,
  find: '# Getting started\n',
  replace: '# Getting nowhere\n',
};
const MISFIT: Fault = {
  title: 'does not fit',
  caughtBy: 'release',
  file: GUIDE,
  find: 'This text is not in the guide.',
  replace: '',
};

test('each planted fault is reported as caught, not caught or no longer fitting, and is removed after its trial', async () => {
  const trials: Trial[] = [];
  // If a caught fault were not removed, the uncaught fault after it would count as caught, too.
  await tryAll([CAUGHT, MISFIT, CAUGHT, UNCAUGHT, UNCAUGHT], { onTrial: (trial) => trials.push(trial) });
  const outcomes = trials.map(({ fault, isCaught }) => `${fault.title}: ${isCaught}`).sort();
  expect(outcomes).toEqual([
    'caught: true',
    'caught: true',
    'does not fit: false',
    'not caught: false',
    'not caught: false',
  ]);
  const line = trials.find(({ fault }) => fault === MISFIT)?.line;
  expect(line).toBe(`The text to replace occurs 0 times in ${GUIDE}, not once. Update the planted fault.`);
});
