// This file is plain JavaScript, because it must run in any version of Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/**
 * Runs a command of package.json with the standard streams of this process, passes signals on to it, and exits with its status.
 * Prints `success` if the command succeeds.
 */
export function launch(node, parameters, success) {
  const child = spawn(node, parameters, {
    // The IPC channel closes when this process dies. The child can then stop, so that no server keeps running after npm is
    // killed.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal also sends SIGINT to the child directly, so the child gets that signal twice.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // When npm dies, this process gets another parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => {
    process.stderr.write(`\n${node} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    if (code === 0 && success !== undefined) process.stdout.write(`${success}\n`);
    process.exit(code ?? 128 + constants.signals[signal]);
  });
}
