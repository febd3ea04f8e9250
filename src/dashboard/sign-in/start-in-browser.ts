import { signOut } from '../../service/sign-in/sign-in.ts';
import { sessionCookie } from '../http/cookies.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';

/**
 * Gives the browser a new session, and leads on. The session that it had before ends: its cookie is lost, so nobody could sign out of
 * it, and somebody else may have a copy.
 */
export async function startInBrowser(
  { dashboard, token: before, auditSource, inTurn }: RequestContext,
  { token, next }: { readonly token: string; readonly next: string },
): Promise<View> {
  if (before !== null) await inTurn(() => signOut(dashboard.db, before, auditSource));
  return redirect(next, { cookies: [sessionCookie(token, dashboard.isHttps)] });
}
