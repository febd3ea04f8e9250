// Loaded before the server (--import). On SIGUSR2, the process is killed while another one still writes to its IPC channel.
import { spawn } from 'node:child_process';

process.on('SIGUSR2', () => {
  const stdio = ['ignore', 'ignore', 'ignore', process.channel.fd];
  spawn('sh', ['-c', 'cat "$CHARTER_TEST_PIPE" >&3'], { stdio, detached: true });
  process.kill(process.pid, 'SIGKILL');
});
