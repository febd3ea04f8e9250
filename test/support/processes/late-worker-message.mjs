// Loaded before the server (--import). On SIGUSR2, the process kills itself. A process that it has started keeps the IPC channel
// open and writes to it.
import { spawn } from 'node:child_process';

process.on('SIGUSR2', () => {
  const stdio = ['ignore', 'ignore', 'ignore', process.channel.fd];
  spawn('sh', ['-c', 'cat "$CHARTER_TEST_PIPE" >&3'], { stdio, detached: true });
  process.kill(process.pid, 'SIGKILL');
});
