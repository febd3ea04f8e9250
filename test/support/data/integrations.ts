import type { Actor } from '../../../src/domain/audit/actor.ts';
import type { Permission } from '../../../src/domain/people/role.ts';
import { createIntegration } from '../../../src/service/integrations/change-integration.ts';
import { type IssuedKey, issueKey } from '../../../src/service/keys/issue-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import type { Database } from '../../../src/store/sql/database.ts';

export type TestIntegration = { readonly id: string; readonly name: string };

/** Creates an integration with a unique name, as an operator does. */
export async function giveIntegration(
  db: Database,
  owner: Actor,
  { name = `Integration ${crypto.randomUUID()}`, role = 'member' }: { name?: string; role?: string } = {},
): Promise<TestIntegration> {
  const operator = { kind: 'operator', scope: owner.scope } as const;
  const request = { name, description: '', role, owner: owner.email, noticeEmail: '' };
  const { id } = orThrow(await createIntegration(db, operator, request));
  return { id, name };
}

export async function giveIntegrationKey(
  db: Database,
  { scope }: Pick<Actor, 'scope'>,
  { id: userId }: TestIntegration,
  {
    name = crypto.randomUUID(),
    permissions = ['parent_programs:read'],
  }: { name?: string; permissions?: Permission[] } = {},
): Promise<IssuedKey> {
  const request = { userId, name, permissions, lifeDays: 300, environment: 'live' } as const;
  return orThrow(await issueKey(db, { kind: 'operator', scope }, request));
}
