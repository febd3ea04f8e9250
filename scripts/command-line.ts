import { type ParseArgsConfig, parseArgs } from 'node:util';
import { StartUpError } from '../src/domain/errors.ts';

type Options = NonNullable<ParseArgsConfig['options']>;
type ValuesOf<O extends Options> = ReturnType<typeof readArguments<O>>;

/**
 * Runs a command: prints the help for `--help`, otherwise calls `main` with the values of the options. The exit code is the
 * result of `main`, or 0 if there is none. If `main` throws, prints the error's message; the exit code is then 1.
 */
export async function runMain<const O extends Options>(
  options: O,
  help: string,
  main: (values: ValuesOf<O>) => Promise<number> | Promise<void>,
): Promise<void> {
  try {
    process.exitCode = await callMain(options, help, main);
  } catch (error) {
    process.exitCode = 1;
    process.stderr.write(`${messageOf(error)}\n`);
  }
}

/** Runs a command like `runMain`, but returns the exit code and does not catch errors. */
export async function callMain<const O extends Options>(
  options: O,
  help: string,
  main: (values: ValuesOf<O>) => Promise<number> | Promise<void>,
): Promise<number> {
  if (process.argv.slice(2).some((each) => each === '--help' || each === '-h')) {
    process.stdout.write(help);
    return 0;
  }
  const code = await main(readArguments(options, help));
  return typeof code === 'number' ? code : 0;
}

/** Returns the values of the command's options. If the options are invalid, throws an error whose message ends with the help. */
export function readArguments<const O extends Options>(options: O, help: string, parameters = process.argv.slice(2)) {
  try {
    return parseArgs({ options, args: parameters }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
}

export function messageOf(error: unknown): string {
  if (error instanceof StartUpError) return `${error.message}\n${error.remedy}`;
  return error instanceof Error ? error.message : String(error);
}

/**
 * Rejects when this process is asked to stop. Also rejects when the IPC channel closes because the `npm run` that started this
 * process was killed.
 */
export function untilInterrupted(): Promise<never> {
  return new Promise((_, reject) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'disconnect']) {
      process.on(signal, () => {
        process.exitCode = 130;
        reject(new Error('Interrupted.'));
      });
    }
  });
}
