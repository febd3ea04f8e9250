import type { Actor } from '../../../src/domain/audit/actor.ts';
import { ROLES, type Role } from '../../../src/domain/people/role.ts';
import type { Database } from '../../../src/store/sql/database.ts';
import { cheapPasswordHash, newAuditSource } from './accounts.ts';
import { byRole, createActors, createScope } from './actors.ts';

export const NAMES: Record<Role, string> = {
  administrator: 'Adaeze Okafor',
  manager: 'Mateo Lindqvist',
  member: 'Mei Tanaka',
  viewer: 'Viktor Dahl',
};
export const ORGANIZATION = 'Northwind Learning Alliance';

/** One user of each role, who signs in with PASSWORD. */
export type Team = { readonly organizationId: string } & Readonly<Record<Role, Actor>>;

let made = 0;

/** A typical organization. Its e-mails are unique, so that the tests of a file can share a server. */
export async function createTeam(db: Database): Promise<Team> {
  made += 1;
  const passwordHash = await cheapPasswordHash();
  const domain = made === 1 ? 'northwind.example' : `northwind-${made}.example`;
  const scope = await createScope(db, { name: ORGANIZATION });
  const users = ROLES.map((role) => ({ role, name: NAMES[role], email: `${role}@${domain}`, passwordHash }));
  const actors = (await createActors(db, scope, users)).map((actor): Actor => {
    return { ...actor, organizationName: ORGANIZATION, auditSource: newAuditSource() };
  });
  return { organizationId: scope.organizationId, ...byRole(actors) };
}
