// Loaded before the server (--import). On SIGUSR2, the process is killed while another one still writes to its standard output.
import { spawn } from 'node:child_process';

process.on('SIGUSR2', () => {
  spawn('cat', [process.env.CHARTER_TEST_PIPE], { stdio: ['ignore', 'inherit', 'ignore'], detached: true });
  process.kill(process.pid, 'SIGKILL');
});
