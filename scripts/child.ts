import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { codeOf } from '../src/domain/errors.ts';
import { watchForShutdown } from '../src/shutdown.ts';

const running = new Set<ChildProcess>();
let isEnded = false;

/** The user has stopped the run. */
export class Interruption extends Error {}

/** Throws an `Interruption` if the run was stopped. The output of a stopped process must not be judged. */
function throwIfInterrupted(): void {
  if (isEnded) throw new Interruption('Interrupted.');
}

/** The result of a script. `printed` is the text on its standard output and standard error, if these are pipes. */
export type Ran = { readonly code: number | null; readonly printed: string };

/**
 * Runs a script with the current Node until it exits. Throws if the script takes longer than `limitMinutes`. Throws an
 * `Interruption` if the run is stopped.
 */
export async function runChild(
  parameters: readonly string[],
  { limitMinutes, ...options }: SpawnOptions & { readonly limitMinutes?: number },
): Promise<Ran> {
  const child = startChild(parameters, options);
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text) => (printed += text));
  let isTooLate = false;
  const limit = limitMinutes === undefined ? undefined : setTimeout(end, limitMinutes * 60_000);
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  clearTimeout(limit);
  throwIfInterrupted();
  if (isTooLate) throw new Error(`${parameters.join(' ')} had not ended after ${limitMinutes} minutes:\n${printed}`);
  return { code, printed };

  function end(): void {
    isTooLate = true;
    signalGroup(child, 'SIGKILL');
  }
}

/** Starts a script with the current Node, in a process group of its own. */
function startChild(parameters: readonly string[], options: SpawnOptions): ChildProcess {
  throwIfInterrupted();
  const child = spawn(process.execPath, parameters, { ...options, detached: true });
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    // The child can leave other processes of its group behind, such as a server.
    signalGroup(child, 'SIGKILL');
  });
  return child;
}

function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    // ESRCH means that the group has no processes any more.
    if (codeOf(error) !== 'ESRCH') throw error;
  }
}

/**
 * Runs a command that starts child processes. The exit code is the result of `main`. If the command is asked to stop, it stops
 * its child processes, too, and the exit code is 130.
 */
export async function runCommand(main: () => Promise<number>): Promise<void> {
  const stop = watchForShutdown();
  stop.markStarted();
  void stop.reason.then(endAll);
  try {
    process.exitCode = await main();
  } catch (error) {
    process.stderr.write(
      stop.isRequested() ? '\nInterrupted.\n' : `\n${error instanceof Error ? error.message : error}\n`,
    );
    process.exitCode = stop.isRequested() ? 130 : 1;
  } finally {
    // The IPC channel to the parent process would keep this process alive.
    process.channel?.unref();
  }
}

/** Stops all running child processes and prevents new ones. Sends SIGINT, so that a check can stop its own PostgreSQL first. */
function endAll(): void {
  isEnded = true;
  for (const child of running) signalGroup(child, 'SIGINT');
}
