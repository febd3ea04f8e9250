// Loaded before the server (--import). On SIGUSR2, the process kills itself. A process that it has started keeps the standard
// output open and writes to it.
import { spawn } from 'node:child_process';

process.on('SIGUSR2', () => {
  spawn('cat', [process.env.CHARTER_TEST_PIPE], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
  process.kill(process.pid, 'SIGKILL');
});
