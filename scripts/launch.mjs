// Plain JavaScript, because it must run on any version of Node.
import { spawn } from 'node:child_process';
import { constants } from 'node:os';

/** Runs a command of package.json with its standard streams, passes signals on, and exits with its status when it has ended. */
export function launch(node, parameters) {
  const child = spawn(node, parameters, {
    // The IPC channel closes when this process dies, so that killing npm leaves no server running.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
  });
  // A terminal also sends SIGINT to the child itself, which then gets it twice.
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => child.kill(signal));
  // When npm dies, this process gets another parent.
  const parent = process.ppid;
  setInterval(() => process.ppid !== parent && child.kill('SIGTERM'), 500).unref();
  child.on('error', (error) => {
    process.stderr.write(`\n${node} could not be started: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => process.exit(code ?? 128 + constants.signals[signal]));
}
