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
`;
const OPTIONS = {
  quick: { type: 'boolean', default: false },
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
  const { quick, only, help } = readArguments(OPTIONS, HELP);
  const lies = quick ? QUICK : LIES.filter(({ title, caughtBy }) => `${title}\n${caughtBy}`.includes(only));
  if (help || lies.length === 0) {
    process.stdout.write(HELP);
    return help ? 0 : 1;
  }
  const startedAt = performance.now();
  const trials: Trial[] = [];
  await tryAll(lies, (trial) => {
    trials.push(trial);
    const { lie, isCaught, seconds } = trial;
    const outcome = isCaught
      ? `${kindOf(lie.caughtBy)}, ${seconds.toFixed(1)} s`
      : `NOT CAUGHT by ${lie.caughtBy}. ${trial.line}`;
    process.stdout.write(`${String(trials.length).padStart(3)} of ${lies.length}  ${lie.title}: ${outcome}\n`);
  });
  const minutes = ((performance.now() - startedAt) / 60_000).toFixed(1);
  const table = `${tableOf(lies.flatMap((lie) => trials.find((trial) => trial.lie === lie) ?? []))}
${lies.length} lies in ${minutes} minutes.
`;
  process.stdout.write(`\n${table}`);
  if (lies.length === LIES.length) await writeFile(TABLE, table);
  return trials.every(({ isCaught }) => isCaught) ? 0 : 1;
}
