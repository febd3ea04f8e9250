// Plants lies, one at a time, in a copy of the tree, and tells what of `npm test` catches each. Fails where nothing does.
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { watchForShutdown } from '../../src/shutdown.ts';
import { readArguments } from '../arguments.ts';
import { root } from '../tool.ts';
import { kindOf } from './judge.ts';
import { LIES, QUICK } from './lies/index.ts';
import { endAll } from './running.ts';
import { tableOf } from './table.ts';
import { type Trial, tryAll } from './trials.ts';

const HELP = `npm run drift                  tries every lie, and writes generated/drift.md
npm run drift -- --only TEXT   those whose title or catcher holds the text
npm run drift -- --quick       one of each kind of catcher, as npm test does
npm run drift -- --minutes N   begins no further one after N minutes, and with another one each day, as npm run soak does
`;
const OPTIONS = {
  quick: { type: 'boolean', default: false },
  minutes: { type: 'string', default: 'Infinity' },
  only: { type: 'string', default: '' },
  help: { type: 'boolean', default: false },
} as const;
const TABLE = join(root, 'generated/drift.md');

const stop = watchForShutdown();
stop.started();
void stop.reason.then(endAll);
try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(
    stop.isRequested() ? '\nInterrupted.\n' : `\n${error instanceof Error ? error.message : error}\n`,
  );
  process.exitCode = stop.isRequested() ? 130 : 1;
} finally {
  // Listening for the end of the parent would keep this process.
  process.channel?.unref();
}

async function main(): Promise<number> {
  const { quick, only, minutes: given, help } = readArguments(OPTIONS, HELP);
  const minutesAtMost = Number(given);
  if (!(minutesAtMost > 0)) throw new Error(`--minutes is a number above 0.\n\n${HELP}`);
  const chosen = quick ? QUICK : LIES.filter(({ title, caughtBy }) => `${title}\n${caughtBy}`.includes(only));
  const lies = Number.isFinite(minutesAtMost) ? inTurn(chosen) : chosen;
  if (help || lies.length === 0) {
    process.stdout.write(HELP);
    return help ? 0 : 1;
  }
  const startedAt = performance.now();
  const trials: Trial[] = [];
  const isTimeLeft = () => performance.now() - startedAt < minutesAtMost * 60_000;
  await tryAll(lies, isTimeLeft, (trial) => {
    trials.push(trial);
    const { lie, isCaught, seconds } = trial;
    const outcome = isCaught
      ? `${kindOf(lie.caughtBy)}, ${seconds.toFixed(1)} s`
      : `NOT CAUGHT by ${lie.caughtBy}. ${trial.line}`;
    process.stdout.write(`${String(trials.length).padStart(3)} of ${lies.length}  ${lie.title}: ${outcome}\n`);
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const table = `${tableOf(lies.flatMap((lie) => trials.find((trial) => trial.lie === lie) ?? []))}
${trials.length} of ${lies.length} lies in ${minutes} minutes.
`;
  process.stdout.write(`\n${table}`);
  if (trials.length === LIES.length) await writeFile(TABLE, table);
  return trials.every(({ isCaught }) => isCaught) ? 0 : 1;
}

/** Begins with another one each day, so that all are tried in the course of some days where the time allows only a part. */
function inTurn<T>(lies: readonly T[]): readonly T[] {
  const day = Math.floor(Date.now() / 86_400_000);
  const first = (day * 37) % Math.max(1, lies.length);
  return [...lies.slice(first), ...lies.slice(0, first)];
}
