import { mayManage, ROLES, type Role } from '../../domain/role.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../service/change-user.ts';
import { listKeysMadeForOthers } from '../../service/list-keys.ts';
import { getUser } from '../../service/people.ts';
import { resetSecondFactor } from '../../service/reset-second-factor.ts';
import { type Answer, redirect } from '../http/answer.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { Refusal } from '../http/refusal.ts';
import { newOnceId } from '../http/send-once.ts';
import type { SignedIn } from '../http/visit.ts';
import { page } from '../markup/layout.ts';
import * as pages from './user-pages.ts';

export function idOf({ params }: SignedIn): string {
  return params['userId'] ?? '';
}

export function rolesToGive(role: Role): Role[] {
  return ROLES.filter((each) => mayManage(role, each));
}

export async function showUser(visit: SignedIn, problem: Problem | null): Promise<Answer> {
  const { actor, dashboard, formToken, now } = visit;
  const user = await getUser(dashboard.db, actor, idOf(visit));
  const after = visit.query.get('after');
  const keysForOthers = await listKeysMadeForOthers(dashboard.db, actor, user.id, { after, now });
  const main = pages.userPage({
    ...{ user, keysForOthers, problem, formToken, now, onceId: newOnceId(visit), isFirst: after === null },
    isSelf: user.id === actor.userId,
    mayManage: mayManage(actor.role, user.role),
    roles: rolesToGive(actor.role),
    done: pages.DONE.get(visit.query.get('done') ?? ''),
  });
  return page(visit, { title: user.name, status: problem?.status ?? 200, main });
}

export async function setRole(visit: SignedIn, form: Form<'role'>): Promise<Answer> {
  const request = { userId: idOf(visit), role: form.text('role') };
  return orUser(visit, 'role', () => changeRole(visit.dashboard.db, visit.actor, request));
}

export async function reactivate(visit: SignedIn): Promise<Answer> {
  return orUser(visit, 'reactivated', () => reactivateUser(visit.dashboard.db, visit.actor, { userId: idOf(visit) }));
}

export async function confirmDeactivation(visit: SignedIn): Promise<Answer> {
  const { actor, dashboard, formToken } = visit;
  const user = await getUser(dashboard.db, actor, idOf(visit));
  if (!mayManage(actor.role, user.role)) throw new Refusal('not-yours');
  const isSelf = user.id === actor.userId;
  return page(visit, {
    title: `Deactivate ${user.name}`,
    main: pages.confirmDeactivation({ user, formToken, isSelf }),
  });
}

export async function deactivate(visit: SignedIn): Promise<Answer> {
  return orUser(visit, 'deactivated', () =>
    deactivateUser(visit.dashboard.db, visit.actor, { userId: idOf(visit), now: visit.now }),
  );
}

/** One's own is turned off under My profile, with the password. */
export async function confirmFactorRemoval(visit: SignedIn): Promise<Answer> {
  const { actor, dashboard, formToken } = visit;
  const user = await getUser(dashboard.db, actor, idOf(visit));
  if (user.id === actor.userId) return redirect('/profile/second-factor');
  if (!mayManage(actor.role, user.role)) throw new Refusal('not-yours');
  const title = `Remove the second factor of ${user.name}`;
  return page(visit, { title, main: pages.confirmFactorRemoval({ user, formToken, title }) });
}

export async function removeFactor(visit: SignedIn): Promise<Answer> {
  return orUser(visit, 'factor-removed', () =>
    resetSecondFactor(visit.dashboard.db, visit.actor, { userId: idOf(visit) }),
  );
}

async function orUser(visit: SignedIn, done: string, work: () => Promise<void>): Promise<Answer> {
  return orAgain(
    async () => {
      await work();
      return redirect(`/people/users/${idOf(visit)}?done=${done}`);
    },
    (problem) => showUser(visit, problem),
  );
}
