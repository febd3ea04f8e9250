import type { SignedIn } from '../../service/sign-in/sessions.ts';
import { signOut } from '../../service/sign-in/sign-in.ts';
import { mailBreakGlass } from '../../service/sign-in-settings/requirement.ts';
import { sessionCookie } from '../http/cookies.ts';
import type { RequestContext } from '../http/request-context.ts';
import { redirect, type View } from '../http/view.ts';

/**
 * Sets the cookie of a new session, and redirects. Ends the previous session of the browser: its cookie is replaced, so the
 * person could no longer sign out of it, and somebody else may have a copy of that cookie.
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
 * administrator can sign in this way, and all administrators get a mail.
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
