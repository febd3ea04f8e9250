import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { DomainError, StartUpError } from '../../src/domain/errors.ts';
import { type Shutdown, watchForShutdown } from '../../src/shutdown.ts';
import { type Command, helpOf, type Options, readOptions, UsageError } from './options.ts';
import { problemsOf } from './request-check.ts';
import type { Mock, MockOptions } from './server.ts';

export type OptionsOf<Mode extends Options['mode']> = Extract<Options, { mode: Mode }>;

/** A way to start the mock: from a checkout or from the package. */
type Program = {
  readonly command: Command;
  startMock(options: MockOptions): Promise<Mock>;
  /** A further sentence about the running mock, or an empty string. */
  readonly note: string;
  /** `runStockPrism` and `pack` exist only in a checkout. */
  runStockPrism?(options: OptionsOf<'stock-prism'>): Promise<void>;
  pack?(): Promise<void>;
};

/** Runs the mock's command with the arguments of this process, and sets the exit code. */
export async function runMockCommand(program: Program): Promise<void> {
  // Without a listener, an error would crash the mock when the reader of its output closes the pipe.
  process.stdout.on('error', () => {});
  try {
    await run(program);
  } catch (error) {
    if (error instanceof UsageError)
      process.stderr.write(`${error.message} To see all options: ${program.command} --help\n`);
    else if (error instanceof StartUpError) process.stderr.write(`${error.message} ${error.remedy}\n`);
    else throw error;
    process.exitCode = 1;
  } finally {
    // The IPC channel to the parent process would keep this process alive.
    process.channel?.unref();
  }
}

async function run(program: Program): Promise<void> {
  const shutdown = watchForShutdown();
  shutdown.markStarted();
  const options = readOptions(process.argv.slice(2), () => randomUUID().slice(0, 8));
  switch (options.mode) {
    case 'help':
      return print(helpOf(program.command).trimEnd());
    case 'mock':
      return runMock(options, { program, shutdown });
    case 'proxy':
      return runProxy(options, shutdown);
    case 'stock-prism':
      await onFreePort(ofCheckout(program.runStockPrism, '--stock-prism')(options));
      await shutdown.reason;
      // Prism's command has no function that closes its server.
      return process.exit(0);
    case 'send-events':
      return runSending(options);
    case 'pack':
      return ofCheckout(program.pack, '--pack')();
  }
}

function ofCheckout<Run>(run: Run | undefined, option: string): Run {
  if (run === undefined) throw new UsageError(`${option} needs a checkout of Charter.`);
  return run;
}

async function runMock(
  options: OptionsOf<'mock'>,
  { program, shutdown }: { program: Program; shutdown: Shutdown },
): Promise<void> {
  const { environment, dynamicSeed, seedFile, isStateful } = options;
  const seed = seedFile === undefined ? undefined : await readSeedFile(seedFile);
  const mock = await onFreePort(program.startMock({ ...options, seed, print })).catch((error: unknown) => {
    if (seedFile === undefined || !(error instanceof DomainError)) throw error;
    const mistakes = problemsOf(error).map((problem) => `${seedFile}: ${problem}`);
    throw new StartUpError(mistakes.join('\n'), '\nThe mock has not started.');
  });
  const data =
    seedFile !== undefined
      ? `the data of ${seedFile}`
      : dynamicSeed === undefined
        ? "the contract's examples"
        : `generated data (the same again with --dynamic-seed ${dynamicSeed})`;
  print(`
  The mock of Charter's API serves ${data} at ${mock.url}

    curl -H "Authorization: Bearer ${mock.key}" "${mock.url}/api/parent_programs?limit=2"

  Keys     this one, and every other well-formed charter_${environment}_ key
  Prefer   selects a response: -H "Prefer: code=422" or -H "Prefer: example=external_id_taken" (more: --help)
  Page     shows the requests and what was wrong with them, and forces responses: ${mock.url}/__mock
  Writes   ${isStateful ? 'are kept until the mock ends' : 'are not kept; --stateful keeps them'}
${program.note}`);
  await shutdown.reason;
  await mock.close();
}

async function readSeedFile(file: string): Promise<unknown> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    const remedy = 'Name a JSON file, or use --dynamic-seed to generate data from a text.';
    throw new StartUpError(`--seed: ${file} cannot be read (${error.code}).`, remedy);
  });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new StartUpError(`--seed: ${file} is not JSON: ${error instanceof Error ? error.message : error}.`, '');
  }
}

async function onFreePort<T>(starting: Promise<T>): Promise<T> {
  return starting.catch((error: unknown) => {
    if (!(error instanceof StartUpError)) throw error;
    throw new StartUpError(error.message, 'Choose another one with --port or --host.');
  });
}

// Each of the following modes imports only the code that it needs.

async function runProxy({ port, host, target }: OptionsOf<'proxy'>, shutdown: Shutdown): Promise<void> {
  const { startProxy } = await import('./proxy.ts');
  const proxy = await onFreePort(startProxy({ port, host, target, print }));
  print(`
  ${proxy.url} forwards requests to ${target.origin}; a line with ! is a disagreement with the contract
`);
  await shutdown.reason;
  await proxy.close();
  print(`\n${proxy.tally.summary().join('\n')}`);
}

async function runSending(options: OptionsOf<'send-events'>): Promise<void> {
  const { sendEvents } = await import('./send-events.ts');
  if (!(await sendEvents({ ...options, print }))) process.exitCode = 1;
}

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
