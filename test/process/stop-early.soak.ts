import { createServer, type Socket } from 'node:net';
import { listenLocally } from '../support/http/port.ts';
import { withClient, withScratchDatabase } from '../support/postgres/postgres.ts';
import { kill, type Running, startFile } from '../support/processes/process.ts';
import { until } from '../support/wait.ts';

// Ctrl-C during the start, whose first run takes a while: the user sees at once that the signal was received.

const HEARD = '\nCharter is stopping. The current step is finished first.\n';
const untilHeard = ({ printed }: Running) => until('a word at once', () => printed.stderr === HEARD);

/** A start that waits for a migration by another process (simulated) until `meanwhile` has settled. */
async function whileStarting(env: Record<string, string>, meanwhile: (running: Running) => Promise<void>) {
  return withClient(env['DATABASE_URL'] ?? '', async (holder) => {
    await holder.query('select pg_advisory_lock(7240113)');
    const running = startFile('src/main.ts', [], { PORT: '0', ...env });
    await until('it to wait for the migrations', async () => {
      const { rows } = await holder.query(
        `select 1 from pg_stat_activity where datname = current_database() and query like '%pg_try_advisory_lock%'
         and application_name = 'charter-migrate'`,
      );
      return rows.length > 0;
    });
    await meanwhile(running);
    expect(running.child.exitCode).toBeNull();
    await holder.query('select pg_advisory_unlock(7240113)');
    return running.ended;
  });
}

test('an interrupted start says so at once, leaves nothing incomplete, and serves no request', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const { code, stdout, stderr } = await whileStarting({ DATABASE_URL }, async (running) => {
      running.child.kill('SIGINT');
      await untilHeard(running);
    });
    expect({ code, stderr }).toEqual({ code: 0, stderr: HEARD });
    expect(stdout.trim().split('\n')).toEqual([expect.stringMatching(/"reason":"SIGINT","msg":"stopped"\}$/)]);
    await withClient(DATABASE_URL, async (client) => {
      const { rows } = await client.query('select count(*)::int as organizations from organizations');
      expect(rows).toEqual([{ organizations: 0 }]);
    });
  }, 'empty');
});

test('an interrupted start behaves the same when its terminal has been closed', async () => {
  await withScratchDatabase(async (DATABASE_URL) => {
    const { code, stdout } = await whileStarting({ DATABASE_URL }, async ({ child }) => {
      child.stderr?.destroy();
      child.disconnect();
    });
    expect(code).toBe(0);
    expect(stdout).toContain('"reason":"the parent process ended","msg":"stopped"');
  }, 'empty');
});

// On a terminal, the signal also reaches the commands that set up PostgreSQL. Their failure is not an error.
test('a failure caused by the interruption is not reported as a reason why Charter cannot start', async () => {
  const sockets: Socket[] = [];
  const silent = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
  });
  const port = await listenLocally(silent);
  const running = startFile('src/main.ts', [], { DATABASE_URL: `postgresql://x:x@127.0.0.1:${port}/x`, PORT: '0' });
  try {
    await until('it to connect', () => sockets.length > 0);
    running.child.kill('SIGINT');
    await untilHeard(running);
    for (const socket of sockets) socket.destroy();
    expect(await running.ended).toEqual({ code: 0, stdout: '', stderr: HEARD });
  } finally {
    await kill(running);
    silent.close();
  }
});
