import type { Actor } from '../../../src/domain/audit/actor.ts';
import { issueKey } from '../../../src/service/keys/issue-key.ts';
import { renameKey } from '../../../src/service/keys/rename-key.ts';
import { revokeKey } from '../../../src/service/keys/revoke-key.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { codeOf, giveKey, READ } from './actors.ts';

export type Action = 'create' | 'rotate' | 'rename' | 'revoke';
export const ACTIONS: readonly Action[] = ['create', 'rotate', 'rename', 'revoke'];

export async function attempt(
  db: Database,
  { by, target }: { by: Actor; target: Actor },
  action: Action,
): Promise<unknown> {
  const { userId } = target;
  const name = crypto.randomUUID();
  if (action === 'create')
    return issueKey(db, by, { userId, name, permissions: READ, lifeDays: 30, environment: 'live' });
  const { id: keyId } = await giveKey(db, target, { permissions: READ });
  if (action === 'rotate') return rotateKey(db, by, { keyId, userId, environment: 'live' });
  if (action === 'rename') return renameKey(db, by, { keyId, userId, name });
  return revokeKey(db, by, { keyId, userId });
}

/** Returns the actions that `by` may do with the keys of `target`. Each is attempted with a new key. */
export async function allowedActions(db: Database, people: { by: Actor; target: Actor }): Promise<Action[]> {
  const allowed: Action[] = [];
  for (const action of ACTIONS) {
    const code = await codeOf(attempt(db, people, action));
    if (code === 'done') allowed.push(action);
    else expect(['forbidden', 'refused']).toContain(code);
  }
  return allowed;
}
