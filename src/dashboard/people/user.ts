import { mayManage, ROLES, type Role } from '../../domain/role.ts';
import { changeRole, deactivateUser, reactivateUser } from '../../service/change-user.ts';
import { listKeysMadeForOthers } from '../../service/list-keys.ts';
import { getUser } from '../../service/people.ts';
import { resetSecondFactor } from '../../service/reset-second-factor.ts';
import { orAgain, type Problem } from '../http/errors.ts';
import type { Form } from '../http/forms.ts';
import { Refusal } from '../http/refusal.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { newOnceId } from '../http/send-once.ts';
import { redirect, type View } from '../http/view.ts';
import { page } from '../markup/layout.ts';
import * as pages from './user-pages.ts';

export function idOf({ params }: SignedInContext): string {
  return params['userId'] ?? '';
}

export function rolesToGive(role: Role): Role[] {
  return ROLES.filter((each) => mayManage(role, each));
}

export async function showUser(context: SignedInContext, problem: Problem | null): Promise<View> {
  const { actor, dashboard, formToken, now } = context;
  const user = await getUser(dashboard.db, actor, idOf(context));
  const after = context.query.get('after');
  const keysForOthers = await listKeysMadeForOthers(dashboard.db, actor, user.id, { after, now });
  const main = pages.userPage({
    ...{ user, keysForOthers, problem, formToken, now, onceId: newOnceId(context), isFirst: after === null },
    isSelf: user.id === actor.userId,
    mayManage: mayManage(actor.role, user.role),
    roles: rolesToGive(actor.role),
    done: pages.DONE.get(context.query.get('done') ?? ''),
  });
  return page(context, { title: user.name, status: problem?.status ?? 200, main });
}

export async function setRole(context: SignedInContext, form: Form<'role'>): Promise<View> {
  const request = { userId: idOf(context), role: form.text('role') };
  return orUser(context, 'role', () => changeRole(context.dashboard.db, context.actor, request));
}

export async function reactivate(context: SignedInContext): Promise<View> {
  return orUser(context, 'reactivated', () =>
    reactivateUser(context.dashboard.db, context.actor, { userId: idOf(context) }),
  );
}

export async function confirmDeactivation(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const user = await getUser(dashboard.db, actor, idOf(context));
  if (!mayManage(actor.role, user.role)) throw new Refusal('not-yours');
  const isSelf = user.id === actor.userId;
  return page(context, {
    title: `Deactivate ${user.name}`,
    main: pages.confirmDeactivation({ user, formToken, isSelf }),
  });
}

export async function deactivate(context: SignedInContext): Promise<View> {
  return orUser(context, 'deactivated', () =>
    deactivateUser(context.dashboard.db, context.actor, { userId: idOf(context), now: context.now }),
  );
}

/** One's own is turned off under My profile, with the password. */
export async function confirmFactorRemoval(context: SignedInContext): Promise<View> {
  const { actor, dashboard, formToken } = context;
  const user = await getUser(dashboard.db, actor, idOf(context));
  if (user.id === actor.userId) return redirect('/profile/second-factor');
  if (!mayManage(actor.role, user.role)) throw new Refusal('not-yours');
  const title = `Remove the second factor of ${user.name}`;
  return page(context, { title, main: pages.confirmFactorRemoval({ user, formToken, title }) });
}

export async function removeFactor(context: SignedInContext): Promise<View> {
  return orUser(context, 'factor-removed', () =>
    resetSecondFactor(context.dashboard.db, context.actor, { userId: idOf(context) }),
  );
}

async function orUser(context: SignedInContext, done: string, work: () => Promise<void>): Promise<View> {
  return orAgain(
    async () => {
      await work();
      return redirect(`/people/users/${idOf(context)}?done=${done}`);
    },
    (problem) => showUser(context, problem),
  );
}
