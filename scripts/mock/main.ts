// Answers in place of a server, for those who build against the API; or, with --proxy, watches a real one.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { type Shutdown, watchForShutdown } from '../../src/shutdown.ts';
import { HELP, type Options, readOptions, UsageError } from './options.ts';

const CONTRACT = join(import.meta.dirname, '../../openapi/openapi.yaml');

// Who reads what is printed may be gone.
process.stdout.on('error', () => {});
try {
  await main();
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${HELP}`);
  else if (error instanceof StartUpError)
    process.stderr.write(`${error.message} Give another one with --port or --host.\n`);
  else throw error;
  process.exitCode = 1;
} finally {
  // Listening for the end of the parent would keep this process.
  process.channel?.unref();
}

async function main(): Promise<void> {
  const stop = watchForShutdown();
  stop.started();
  const options = readOptions(process.argv.slice(2), () => randomUUID().slice(0, 8));
  if (options === null) print(HELP.trimEnd());
  else if (options.proxied === undefined) await mock(options, stop);
  else await proxy({ ...options, target: options.proxied }, stop);
}

async function mock({ port, host, environment, seed }: Options, stop: Shutdown): Promise<void> {
  // Not before it is needed: loading Prism takes a second.
  const { startMock } = await import('./server.ts');
  const started = await startMock({ port, host, environment, seed, watched: CONTRACT, print });
  print(`
  The mock of Charter's API serves at ${started.url}, data made of ${seed === undefined ? "the contract's examples" : `the schemas with --seed ${seed}`}

    curl -H "Authorization: Bearer ${started.key}" "${started.url}/api/parent_programs?limit=2"

  Keys   this one, or any other well-formed charter_${environment}_ key
  Force  any status and example: -H "Prefer: code=422" or -H "Prefer: example=external_id_taken" (more: --help)
  Edits  of openapi/ are served as soon as they are saved
`);
  await stop.reason;
  await started.close();
}

async function proxy({ port, host, target }: Options & { target: URL }, stop: Shutdown): Promise<void> {
  const { startProxy } = await import('./proxy.ts');
  const started = await startProxy({ port, host, target, print });
  print(`
  ${started.url} passes requests on to ${target.origin}; a line with ! is a disagreement with the contract
`);
  await stop.reason;
  await started.close();
  print(`\n${started.tally.summary().join('\n')}`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
