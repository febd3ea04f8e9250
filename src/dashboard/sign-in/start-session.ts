import type { SignedIn } from '../../service/sign-in/sessions.ts';
import { signOut } from '../../service/sign-in/sign-in.ts';
import { mailBreakGlass } from '../../service/sign-in-settings/requirement.ts';
import { sessionCookie } from '../http/cookies.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';

/**
 * Sets the cookie of the new session, and redirects. Also ends the browser's previous session. The person could no longer sign
 * out of that session, because its cookie is replaced, and somebody else may have a copy of that cookie.
 */
export async function startInBrowser(
  { dashboard, token: before, auditSource, inTurn }: RequestContext,
  { token, next }: { readonly token: string; readonly next: string },
): Promise<View> {
  if (before !== null) await inTurn(() => signOut(dashboard.db, before, auditSource));
  return redirect(next, { cookies: [sessionCookie(token, dashboard.isHttps)] });
}

/**
 * Starts the session after a sign-in by password or passkey. If the organization requires single sign-on, only the break-glass
 * administrator may sign in like this, and all administrators are notified by mail.
 */
export async function startAfterSignIn(
  context: RequestContext,
  { token, userId, breakGlassOf }: SignedIn,
  { by, next }: { readonly by: 'password' | 'passkey'; readonly next: string },
): Promise<View> {
  const { dashboard, auditSource, now } = context;
  if (breakGlassOf !== undefined)
    mailBreakGlass(dashboard, { scope: breakGlassOf, userId, by, ip: auditSource.ip, now });
  return startInBrowser(context, { token, next });
}
