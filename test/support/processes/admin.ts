import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { runAdmin } from '../../../scripts/admin/commands.ts';
import { ENCRYPTION_KEY } from '../postgres/postgres.ts';
import type { Ended } from './process.ts';
import { watchOutput } from './secrecy.ts';

/**
 * Runs an operator's command as `scripts/admin/main.ts` does, but in this process, because starting a process takes longer than
 * the command itself.
 */
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

type Installation = { readonly databaseUrl: string };

/** Takes the steps of a move after `export-organization --move`, until one is refused. Returns the result of the last step. */
export async function finishMove(
  { from, to }: { readonly from: Installation; readonly to: Installation },
  { id, file }: { readonly id: string; readonly file: string },
): Promise<Ended> {
  const completion = `${file}.completion`;
  const imported = await runAdminCommand(to.databaseUrl, ['import-organization', '--file', file]);
  if (imported.code !== 0) return imported;
  const completed = await runAdminCommand(from.databaseUrl, ['complete-move', '--id', id, '--file', completion]);
  if (completed.code !== 0) return completed;
  return runAdminCommand(to.databaseUrl, ['activate-organization', '--file', completion]);
}
