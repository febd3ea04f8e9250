// Generates requests from the contract and sends them to the server for a given time. See --help.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Json } from '../src/contract/document.ts';
import { fuzz, isPropertyName, PROPERTIES, type PropertyName, type Start } from '../test/fuzz/fuzz.ts';
import { openWorld } from '../test/fuzz/world.ts';
import setUp from '../test/support/runner/set-up.ts';
import tearDown from '../test/support/runner/tear-down.ts';
import { callMain, messageOf, type readArguments, untilInterrupted } from './command-line.ts';
import { root } from './tool.ts';

const NAMES = Object.keys(PROPERTIES).filter(isPropertyName);
const HELP = `npm run fuzz -- [options]   sends the server generated requests, and checks each response against the contract

  --minutes N       how long to run, with a new seed for each round; 1 by default
  --seed S          the first seed; random by default
  --property NAME   the property to check: ${NAMES.join(', ')}; all by default
  --path P          repeats one failure without shrinking it; requires --seed and --property
  --help            shows this text

The command starts its own PostgreSQL and servers. It stops at the first failure, with exit code 1, and prints the problem,
the smallest request that causes it as a command for bash, and the command that repeats the failure. The command for bash
uses the environment variables CHARTER_URL and CHARTER_KEY.
`;

type Options = Start & { readonly minutes: number; readonly names: readonly PropertyName[] };

/** The number of runs of each property in a round. Each round has a new database and a new server. */
const RUNS = 150;

const text = { type: 'string' } as const;
const OPTIONS = { minutes: text, seed: text, property: text, path: text } as const;

try {
  await Promise.race([callMain(OPTIONS, HELP, (values) => main(optionsOf(values))), untilInterrupted()]);
} catch (error) {
  process.exitCode ??= 1;
  console.error(messageOf(error));
}
// With this pattern, the tear-down does not check that the run has produced every declared status.
await tearDown({ testPathPatterns: { patterns: ['fuzz'] } });
process.exit();

async function main({ minutes, names, seed, path }: Options): Promise<void> {
  const document: Json = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
  await setUp();
  const startedAt = performance.now();
  const secondsSoFar = () => (performance.now() - startedAt) / 1000;
  let requests = 0;
  for (let next = seed; next === seed || (path === undefined && secondsSoFar() < minutes * 60); next += 1) {
    const world = await openWorld();
    try {
      for (const name of names) {
        const failure = await fuzz(name, { document, world, runs: RUNS, seed: next, path });
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

/** Returns the options with their defaults. Throws if an option is invalid. */
function optionsOf(values: ReturnType<typeof readArguments<typeof OPTIONS>>): Options {
  const { minutes = '1', seed = String(Math.floor(Math.random() * 1_000_000_000)), property, path } = values;
  if (!(Number(minutes) > 0)) throw new Error('--minutes must be a number greater than 0.');
  if (!/^-?\d{1,10}$/.test(seed)) throw new Error('--seed must be an integer.');
  if (property !== undefined && !isPropertyName(property))
    throw new Error(`--property must be one of: ${NAMES.join(', ')}.`);
  if (path !== undefined && (values.seed === undefined || property === undefined)) {
    throw new Error('--path requires --seed and --property.');
  }
  return { minutes: Number(minutes), seed: Number(seed), names: property === undefined ? NAMES : [property], path };
}
