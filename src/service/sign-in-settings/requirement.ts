import { type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { formatInstant } from '../../domain/time.ts';
import { getOrganization } from '../../store/organizations/organizations.ts';
import { endSsoEnforcement } from '../../store/people/users.ts';
import { type Database, transaction } from '../../store/sql/database.ts';
import { lockToGovern } from '../authority/people.ts';
import { mailAdministrators, type Outbox } from '../mail.ts';
import { type Conflict, conflict, DONE, type Done, recordAct, runAction } from '../outcome.ts';

// How an organization stops requiring single sign-on, and the mails about sign-ins of the administrator who may still use a
// password.

/** Lets users sign in with passwords and passkeys again. */
export async function stopRequiringSingleSignOn(db: Database, actor: ActorOrOperator): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    if (!isOperator(actor)) await lockToGovern(tx, actor);
    if (!(await endSsoEnforcement(tx, scope))) return conflict('Single sign-on is not required.');
    await recordAct(tx, actor, { action: 'sso.no_longer_required' });
    return DONE;
  });
}

type BreakGlassUse = {
  readonly scope: OrganizationScope;
  readonly userId: string;
  readonly by: 'password' | 'passkey';
  readonly ip: string;
  readonly now: Date;
};

/** Mails all administrators that the break-glass administrator has signed in. */
export function mailBreakGlass(
  { db, outbox }: { readonly db: Database; readonly outbox: Outbox },
  { scope, userId, by, ip, now }: BreakGlassUse,
): void {
  mailAdministrators({ db, outbox }, scope, async (administrators) => {
    const { name: organization } = await transaction(db, (tx) => getOrganization(tx, scope));
    const used = administrators.find(({ id }) => id === userId);
    return {
      subject: 'A break-glass sign-in to Charter',
      paragraphs: [
        `${used?.name ?? 'The break-glass administrator'} signed in to ${organization} on Charter with a ${by}, at ${formatInstant(now)}, from ${ip}. Single sign-on is required there, and only this account can sign in without it.`,
        'If you do not know why, ask its owner and look at the audit log. The owner can change the password and remove passkeys under My profile.',
      ],
    };
  });
}
