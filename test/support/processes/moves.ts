import { join } from 'node:path';
import { PERMISSIONS } from '../../../src/domain/people/role.ts';
import { issueKeyByEmail } from '../../../src/service/operator/keys.ts';
import { Client } from '../clients/client.ts';
import { useDashboard } from '../dashboard/dashboard-server.ts';
import { createTeam, ORGANIZATION, type Team } from '../data/team.ts';
import { useFolder } from '../folder.ts';
import { inTransaction, untilWaiting } from '../postgres/postgres.ts';
import { type TestServer, useServer } from '../servers/server.ts';
import { until } from '../wait.ts';
import { finishMove, runAdminCommand } from './admin.ts';

export const LIST = '/api/parent_programs';

/** The response to requests of an organization that is being moved. */
export const MOVING = { status: 503, headers: { 'retry-after': '5' } };

/** Returns the result of a command that was refused with these words. */
export const refusal = (words: RegExp | string) => ({
  code: 1,
  stdout: '',
  stderr: typeof words === 'string' ? expect.stringContaining(words) : expect.stringMatching(words),
});

export const SUCCESS = { code: 0, stderr: '' };

export type TeamWithKey = Team & { readonly key: string; readonly keyId: string; readonly client: Client };

/**
 * Starts two servers with a database each. Returns functions that run the operator's commands for a move from one server to the
 * other.
 */
export async function useMoves() {
  const [source, target] = [await useDashboard(), await useServer()];
  const folder = await useFolder();
  const admin = (...parameters: string[]) => runAdminCommand(source.databaseUrl, parameters);
  const adminOfTarget = (...parameters: string[]) => runAdminCommand(target.databaseUrl, parameters);
  /** Runs the one command for a whole move. */
  const move = (id: string, ...options: string[]) =>
    runAdminCommand(source.databaseUrl, ['--json', 'move-organization', '--id', id, ...options], {
      MOVE_TO_DATABASE_URL: target.databaseUrl,
    });
  const fileOf = (id: string) => join(folder, `${id}.jsonl`);
  const completionOf = (id: string) => `${fileOf(id)}.completion`;
  const exportOf = (id: string, file: string) => ['export-organization', '--id', id, '--file', file];

  /** Creates a team in the source, with a key of its administrator. */
  async function teamWithKey(): Promise<TeamWithKey> {
    const team = await createTeam(source.db);
    const request = { email: team.administrator.email, name: 'Test', permissions: PERMISSIONS, lifeDays: 30 } as const;
    const { key, id: keyId } = await issueKeyByEmail(source.db, { ...request, environment: 'live' });
    return { ...team, key, keyId, client: new Client(source.url, key) };
  }

  const startMove = (id: string) => admin(...exportOf(id, fileOf(id)), '--move');
  /** Takes all steps of a move after the export. */
  const importTo = (id: string) => finishMove({ from: source, to: target }, { id, file: fileOf(id) });

  async function movingTeam(): Promise<TeamWithKey> {
    const team = await teamWithKey();
    expect(await startMove(team.organizationId)).toMatchObject(SUCCESS);
    return team;
  }

  /** Creates a team and moves it, so that the target serves it. */
  async function createMovedTeam(): Promise<TeamWithKey> {
    const team = await movingTeam();
    expect(await importTo(team.organizationId)).toMatchObject(SUCCESS);
    return team;
  }

  /**
   * Starts two operations, one after the other, that wait for the row of the organization, and then lets both operations
   * continue.
   */
  const bothBehindLock = <A, B>(id: string, first: () => Promise<A>, second: () => Promise<B>): Promise<[A, B]> =>
    inTransaction(source.db, async (held) => {
      await held.query('select from organizations where id = $1 for update', [id]);
      const one = first();
      await untilWaiting(source.db.pool, 1);
      const other = second();
      await untilWaiting(source.db.pool, 2);
      await held.query('commit');
      return Promise.all([one, other]);
    });

  /** Starts `work`. Calls `act` while `work` waits for the locked table. Returns the result of `work`. */
  const actWhileLocked = <T>(table: string, work: () => Promise<T>, act: () => Promise<unknown>): Promise<T> =>
    inTransaction(source.db, async (held) => {
      await held.query(`lock table ${table} in access exclusive mode`);
      const result = work();
      await untilWaiting(source.db.pool, 1);
      await act();
      await held.query('commit');
      return result;
    });

  /** Starts `work`. Terminates the connections that wait for a lock until `work` ends. Returns the result of `work`. */
  const interruptAt = <T>(lock: string, work: () => Promise<T>, { db }: Pick<TestServer, 'db'> = source): Promise<T> =>
    inTransaction(db, async (held) => {
      await held.query(lock);
      let hasEnded = false;
      const result = work().finally(() => {
        hasEnded = true;
      });
      await until('the end of the interrupted work', async () => {
        await db.pool.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
           where datname = current_database() and wait_event_type = 'Lock'`,
        );
        return hasEnded;
      });
      return result;
    });

  return {
    source,
    target,
    folder,
    admin,
    adminOfTarget,
    move,
    fileOf,
    completionOf,
    exportOf,
    teamWithKey,
    movingTeam,
    createMovedTeam,
    bothBehindLock,
    actWhileLocked,
    interruptAt,
    startMove,
    importTo,
    cancelMove: (id: string) => admin('cancel-move', '--id', id, '--imported-nowhere'),
    importOnly: (id: string) => adminOfTarget('import-organization', '--file', fileOf(id)),
    complete: (id: string) => admin('complete-move', '--id', id, '--file', completionOf(id)),
    activate: (id: string) => adminOfTarget('activate-organization', '--file', completionOf(id)),
    deletionOf: (id: string) => ['delete-organization', '--id', id, '--name', ORGANIZATION],
    statusInTarget: async (key: string) => (await target.anonymous.get(LIST, { key })).status,
  };
}
