import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runAdmin } from '../../../scripts/admin/commands.ts';
import { ENCRYPTION_KEY } from '../data/encryption.ts';
import type { Ended } from './process.ts';
import { watchOutput } from './secrecy.ts';

/** Runs an operator's command as `scripts/admin/main.ts` does, but in this process, because to start one takes longest. */
export async function runAdminCommand(
  databaseUrl: string,
  parameters: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<Ended> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()];
  const printed = Promise.all([text(stdout), text(stderr)]);
  const code = await runAdmin(parameters, {
    env: { DATABASE_URL: databaseUrl, ENCRYPTION_KEY, ...env },
    stdout,
    stderr,
  }).finally(() => {
    stdout.end();
    stderr.end();
  });
  const [onStdout, onStderr] = await printed;
  watchOutput('scripts/admin', { stdout: onStdout, stderr: onStderr });
  return { code, stdout: onStdout, stderr: onStderr };
}
