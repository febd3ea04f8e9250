import { unlinkUser } from '../../service/single-sign-on/enforcement.ts';
import { userUrl } from '../addresses.ts';
import { problemOf } from '../http/problem.ts';
import type { SignedInContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';
import { userPage } from './user.ts';
import { userIdOf } from './user-head.ts';

export async function unlink(context: SignedInContext): Promise<View> {
  const userId = userIdOf(context);
  const outcome = await unlinkUser(context.dashboard.db, context.actor, { userId });
  if (outcome.kind !== 'done') return userPage(context, problemOf(outcome));
  return redirect(`${userUrl(userId)}?done=unlinked`);
}
