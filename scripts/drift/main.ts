// Plants faults in copies of the checkout, one at a time in each copy, and reports for each fault whether its check or test
// catches the fault. Fails if a fault is not caught.
import { runCommand } from '../child.ts';
import { callMain } from '../command-line.ts';
import { FAULTS } from './faults.ts';
import { tryAll } from './trials.ts';

const HELP = `npm run drift                  plants all faults, as npm run soak does
npm run drift -- --only TEXT   only faults whose title or catcher contains TEXT
`;
await runCommand(() => callMain({ only: { type: 'string', default: '' } }, HELP, main));

async function main({ only }: { only: string }): Promise<number> {
  const faults = FAULTS.filter(({ title, caughtBy }) => `${title}\n${caughtBy}`.includes(only));
  if (faults.length === 0) throw new Error(`No fault has a title or a catcher with "${only}".`);
  const startedAt = performance.now();
  let [tried, caught] = [0, 0];
  await tryAll(faults, {
    onTrial({ fault: { title, caughtBy }, isCaught, line, seconds }) {
      tried += 1;
      if (isCaught) caught += 1;
      const outcome = isCaught ? `${caughtBy}, ${seconds.toFixed(1)} s` : `NOT CAUGHT by ${caughtBy}. ${line}`;
      process.stdout.write(`${String(tried).padStart(3)} of ${faults.length}  ${title}: ${outcome}\n`);
    },
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  process.stdout.write(`\n${caught} of ${faults.length} faults caught in ${minutes} minutes\n`);
  return caught === faults.length ? 0 : 1;
}
