import type { Actor } from '../../domain/audit/actor.ts';
import { invalidField } from '../../domain/errors.ts';
import {
  NEW_PEOPLE_ROLES,
  type NewPeopleRole,
  parseGroupRoles,
  parseGroupsClaim,
} from '../../domain/people/single-sign-on.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import { findSsoConnection, type SsoRules, setSsoRules } from '../../store/people/sso-connections.ts';
import type { Database } from '../../store/sql/database.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  joinInvalid,
  runAction,
} from '../outcome.ts';
import { lockSettings, NO_CONNECTION } from './single-sign-on.ts';

/** As they were typed. `newPeople`: empty, "viewer" or "member". */
export type RulesContent = { readonly newPeople: string; readonly groupsClaim: string; readonly groupRoles: string };

/** Who gets an account by single sign-on, and which roles groups give. They apply from the next sign-in of each person on. */
export async function saveRules(db: Database, actor: Actor, content: RulesContent): Promise<Done | Invalid | Conflict> {
  const newPeople = catchInvalid(() => parseNewPeople(content.newPeople));
  const claim = catchInvalid(() => parseGroupsClaim(content.groupsClaim));
  const roles = catchInvalid(() => parseGroupRoles(content.groupRoles));
  if (newPeople.kind === 'invalid' || claim.kind === 'invalid' || roles.kind === 'invalid')
    return joinInvalid([newPeople, claim, roles]);
  if (claim.value === '' && roles.value.length > 0)
    return invalid('groups_claim', 'must be given for roles by group, such as groups. Or leave both empty.');
  const rules = { newPeopleRole: newPeople.value, groupsClaim: claim.value, groupRoles: roles.value };
  const { scope, auditSource } = actor;
  return runAction(db, async (tx) => {
    const { current, connection } = await lockSettings(tx, actor);
    if (connection === null) return conflict(NO_CONNECTION);
    const [before, after] = [wordsOf(connection), wordsOf(rules)];
    const changes = Object.entries(after).filter(([name, words]) => before[name] !== words);
    if (changes.length === 0) return DONE;
    await setSsoRules(tx, scope, rules);
    await recordAudit(tx, scope, {
      action: 'sso.rules_changed',
      actorUserId: current.id,
      detail: Object.fromEntries(changes.map(([name, words]) => [name, `${before[name] ?? ''} -> ${words}`])),
      auditSource,
    });
    return DONE;
  });
}

/** Whether a sign-in by the connection can change a role: a manager's, a member's or a viewer's. */
export async function doRolesFollowGroups({ prisma }: Database, { scope }: Actor): Promise<boolean> {
  const connection = await findSsoConnection(prisma, scope);
  return connection !== null && connection.groupRoles.length > 0;
}

function parseNewPeople(text: string): NewPeopleRole | null {
  const role = NEW_PEOPLE_ROLES.find((each) => each === text);
  if (role === undefined && text !== '') throw invalidField('new_people', 'must be one of those in the list.');
  return role ?? null;
}

function wordsOf({ newPeopleRole, groupsClaim, groupRoles }: SsoRules): Record<string, string> {
  return {
    'new people': newPeopleRole ?? 'no account',
    'claim with groups': groupsClaim === '' ? 'none' : groupsClaim,
    'roles by group': groupRoles.map(({ groupName, role }) => `${groupName} = ${role}`).join(', ') || 'none',
  };
}
