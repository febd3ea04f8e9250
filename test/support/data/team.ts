import type { Actor } from '../../../src/domain/actor.ts';
import { ROLES, type Role } from '../../../src/domain/role.ts';
import { createOrganization } from '../../../src/service/operator/organizations.ts';
import type { Database } from '../../../src/store/database.ts';
import { cheapPasswordHash, newAuditSource } from './accounts.ts';

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
  const users = ROLES.map((role) => ({ email: `${role}@${domain}`, name: NAMES[role], role, passwordHash }));
  const scope = await createOrganization(db, { name: ORGANIZATION, users });
  const rows = await db.prisma.user.findMany({ where: { organizationId: scope.organizationId } });
  const actorOf = (role: Role): Actor => {
    const row = rows.find((each) => each.role === role);
    if (row === undefined) throw new Error(`The team has no ${role}.`);
    const { id: userId, name, email } = row;
    if (email === null) throw new Error(`The ${role} has no e-mail.`);
    const rest = {
      organizationName: ORGANIZATION,
      isSuspended: false,
      hasSecondFactor: false,
      endpointsDisabledByCharter: 0,
      ownsIntegrations: false,
      lacksOwners: false,
      keyNotices: [],
    };
    return { scope, userId, role, name, email, auditSource: newAuditSource(), ...rest };
  };
  return {
    organizationId: scope.organizationId,
    administrator: actorOf('administrator'),
    manager: actorOf('manager'),
    member: actorOf('member'),
    viewer: actorOf('viewer'),
  };
}
