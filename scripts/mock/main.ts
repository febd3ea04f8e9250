// Responds in place of a server, for people who build against the API; with --proxy, checks a real server;
// with --stock-prism, starts Prism itself; with --send-events, sends events to a receiver.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { StartUpError } from '../../src/domain/start-up-error.ts';
import { type Shutdown, watchForShutdown } from '../../src/shutdown.ts';
import { root } from '../tool.ts';
import { HELP, type Options, readOptions, UsageError } from './options.ts';

const CONTRACT = join(root, 'openapi/openapi.yaml');

// The reader of the output may be gone.
process.stdout.on('error', () => {});
try {
  await main();
} catch (error) {
  if (error instanceof UsageError) process.stderr.write(`${error.message}\n\n${HELP}`);
  else if (error instanceof StartUpError)
    process.stderr.write(`${error.message} Choose another one with --port or --host.\n`);
  else throw error;
  process.exitCode = 1;
} finally {
  // The channel to the parent would keep this process alive.
  process.channel?.unref();
}

async function main(): Promise<void> {
  const shutdown = watchForShutdown();
  shutdown.started();
  const options = readOptions(process.argv.slice(2), () => randomUUID().slice(0, 8));
  switch (options.mode) {
    case 'help':
      return print(HELP.trimEnd());
    case 'mock':
      return runMock(options, shutdown);
    case 'proxy':
      return runProxy(options, shutdown);
    case 'stock-prism':
      return runPrism(options, shutdown);
    case 'send-events':
      return runSending(options);
  }
}

type OptionsOf<Mode extends Options['mode']> = Extract<Options, { mode: Mode }>;

// Each mode imports its own code only: Prism takes a second to load.

async function runMock(options: OptionsOf<'mock'>, shutdown: Shutdown): Promise<void> {
  const { startMock } = await import('./server.ts');
  const { environment, seed, isStateful } = options;
  const mock = await startMock({ ...options, mainFile: CONTRACT, print });
  const data = seed === undefined ? "the contract's examples" : `generated data (the same again with --seed ${seed})`;
  print(`
  The mock of Charter's API serves ${data} at ${mock.url}

    curl -H "Authorization: Bearer ${mock.key}" "${mock.url}/api/parent_programs?limit=2"

  Keys     this one, and every other well-formed charter_${environment}_ key
  Prefer   selects a response: -H "Prefer: code=422" or -H "Prefer: example=external_id_taken" (more: --help)
  Forced   responses, from outside of your app: ${mock.url}/__mock
  Writes   ${isStateful ? 'are kept until the mock ends' : 'are not kept; --stateful keeps them'}
  Edits    of openapi/ are served as soon as they are saved
`);
  await shutdown.reason;
  await mock.close();
}

async function runProxy({ port, host, target }: OptionsOf<'proxy'>, shutdown: Shutdown): Promise<void> {
  const { startProxy } = await import('./proxy.ts');
  const proxy = await startProxy({ port, host, target, print });
  print(`
  ${proxy.url} forwards requests to ${target.origin}; a line with ! is a disagreement with the contract
`);
  await shutdown.reason;
  await proxy.close();
  print(`\n${proxy.tally.summary().join('\n')}`);
}

async function runPrism(options: OptionsOf<'stock-prism'>, shutdown: Shutdown): Promise<void> {
  print(`
  Stock Prism on generated/openapi.yaml; any key will do: -H "Authorization: Bearer x"
  It differs from the server, as openapi/guides/mock-server.md lists. Without --stock-prism, the mock responds as the server does.
`);
  const { runStockPrism } = await import('./stock-prism.ts');
  await runStockPrism(options);
  await shutdown.reason;
  // Prism's command gives no way to close its server.
  process.exit(0);
}

async function runSending(options: OptionsOf<'send-events'>): Promise<void> {
  const { sendEvents } = await import('./send-events.ts');
  if (!(await sendEvents({ ...options, print }))) process.exitCode = 1;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
