// Plants faults in a copy of the tree, one at a time, and reports which check of `npm test` catches each one. Fails if a fault
// is not caught.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readArguments } from '../arguments.ts';
import { runCommand } from '../child.ts';
import { root } from '../tool.ts';
import { FAULTS, QUICK } from './faults/index.ts';
import { kindOf } from './judge.ts';
import { tableOf } from './table.ts';
import { type Trial, tryAll } from './trials.ts';

const HELP = `npm run drift                  plants all faults and writes generated/drift.md
npm run drift -- --only TEXT   only faults whose title or catcher contains TEXT
npm run drift -- --quick       one fault for each kind of check, as npm test does
npm run drift -- --minutes N   starts no new fault after N minutes; begins with a different fault each day, as npm run soak does
`;
const OPTIONS = {
  quick: { type: 'boolean', default: false },
  minutes: { type: 'string', default: 'Infinity' },
  only: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;
const TABLE = join(root, 'generated/drift.md');

await runCommand(main);

async function main(): Promise<number> {
  const { quick, only, minutes: given, help } = readArguments(OPTIONS, HELP);
  const minutesAtMost = Number(given);
  if (!(minutesAtMost > 0)) throw new Error(`--minutes must be a number greater than 0.\n\n${HELP}`);
  const chosen = quick ? QUICK : FAULTS.filter(({ title, caughtBy }) => `${title}\n${caughtBy}`.includes(only));
  const faults = Number.isFinite(minutesAtMost) ? rotatedByDay(chosen) : chosen;
  if (help || faults.length === 0) {
    process.stdout.write(HELP);
    return help ? 0 : 1;
  }
  const startedAt = performance.now();
  const trials: Trial[] = [];
  const isTimeLeft = () => performance.now() - startedAt < minutesAtMost * 60_000;
  const onTrial = (trial: Trial) => {
    trials.push(trial);
    const { fault, isCaught, seconds } = trial;
    const outcome = isCaught
      ? `${kindOf(fault.caughtBy)}, ${seconds.toFixed(1)} s`
      : `NOT CAUGHT by ${fault.caughtBy}. ${trial.line}`;
    process.stdout.write(`${String(trials.length).padStart(3)} of ${faults.length}  ${fault.title}: ${outcome}\n`);
  };
  // npm test itself runs every check without a fault.
  await tryAll(faults, { isTimeLeft, hasBaseline: !quick, onTrial });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const table = `${tableOf(faults.flatMap((fault) => trials.find((trial) => trial.fault === fault) ?? []))}
${trials.length} of ${faults.length} faults in ${minutes} minutes.
`;
  process.stdout.write(`\n${table}`);
  if (trials.length === FAULTS.length) await writeFile(TABLE, table);
  return trials.every(({ isCaught }) => isCaught) ? 0 : 1;
}

/** Starts with a different fault each day, so that limited runs cover all faults over several days. */
function rotatedByDay<T>(faults: readonly T[]): readonly T[] {
  const day = Math.floor(Date.now() / 86_400_000);
  const first = (day * 37) % Math.max(1, faults.length);
  return [...faults.slice(first), ...faults.slice(0, first)];
}
