// Tries the server with requests that are made of the document, for as long as one likes. See --help.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { Json } from '../src/api/document.ts';
import { fuzz, isPropertyName, PROPERTIES, type PropertyName, type Start } from '../test/fuzz/fuzz.ts';
import { openWorld } from '../test/fuzz/world.ts';
import setUp from '../test/support/set-up.ts';
import tearDown from '../test/support/tear-down.ts';
import { untilInterrupted } from './interrupted.ts';

const NAMES = Object.keys(PROPERTIES).filter(isPropertyName);
const HELP = `npm run fuzz -- [options]   sends the server what nobody has thought of, and holds its answers against the document

  --minutes N       for so long, with one seed after another; 1 by default
  --seed S          the first seed; a random one by default
  --property NAME   one of: ${NAMES.join(', ')}; all of them by default
  --path P          with --seed and --property: that one failure again, without shrinking
  --help            this text

It starts a PostgreSQL and servers of its own. At the first failure it ends with 1, and prints what is wrong, the request as
a line for bash, made as small as it could be, and the command that repeats it. The line reads CHARTER_URL and CHARTER_KEY.
`;

type Options = Start & { readonly minutes: number; readonly names: readonly PropertyName[] };

/** Each round has a new database and a new server. */
const ROUND = { runs: 150, lifeSeconds: 900 };

try {
  const options = readOptions();
  if (options === null) console.log(HELP);
  else await Promise.race([main(options), untilInterrupted()]);
} catch (error) {
  process.exitCode ??= 1;
  console.error(error instanceof Error ? error.message : error);
}
// Of a run that was not whole: nobody asks whether it has seen every status.
await tearDown({ testPathPatterns: { patterns: ['fuzz'] } });
process.exit();

async function main({ minutes, names, seed, path }: Options): Promise<void> {
  const document: Json = JSON.parse(await readFile(join(import.meta.dirname, '../generated/openapi.json'), 'utf8'));
  await setUp();
  const startedAt = performance.now();
  const secondsSoFar = () => (performance.now() - startedAt) / 1000;
  let requests = 0;
  for (let next = seed; next === seed || (path === undefined && secondsSoFar() < minutes * 60); next += 1) {
    const world = await openWorld(ROUND);
    try {
      for (const name of names) {
        const failure = await fuzz(name, { document, world, runs: ROUND.runs, seed: next, path });
        if (failure !== null) throw new Error(`\n${name}, seed ${next}: ${failure}`);
        console.log(
          `${name}, seed ${next}: fine. ${requests + world.count.requests} requests in ${secondsSoFar().toFixed(0)} s`,
        );
      }
    } finally {
      requests += world.count.requests;
      await world.close();
    }
  }
}

/** Null: help is asked for. */
function readOptions(): Options | null {
  const text = { type: 'string' } as const;
  const { values } = parseArgs({
    options: { minutes: text, seed: text, property: text, path: text, help: { type: 'boolean', default: false } },
  });
  if (values.help) return null;
  const { minutes = '1', seed = String(Math.floor(Math.random() * 1_000_000_000)), property, path } = values;
  if (!(Number(minutes) > 0)) throw new Error('--minutes is a number above 0.');
  if (!/^-?\d{1,10}$/.test(seed)) throw new Error('--seed is an integer.');
  if (property !== undefined && !isPropertyName(property))
    throw new Error(`--property is one of: ${NAMES.join(', ')}.`);
  if (path !== undefined && (values.seed === undefined || property === undefined)) {
    throw new Error('--path is of one --seed and one --property. Give all three.');
  }
  return { minutes: Number(minutes), seed: Number(seed), names: property === undefined ? NAMES : [property], path };
}
