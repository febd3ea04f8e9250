import type { SignedIn } from '../../service/sign-in/sign-in.ts';
import { mailBreakGlass } from '../../service/sign-in-settings/enforcement.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Tells the administrators if somebody has signed in otherwise although single sign-on is required. */
export function tellBreakGlass(
  { dashboard, auditSource, now }: RequestContext,
  { userId, breakGlassOf }: Pick<SignedIn, 'userId' | 'breakGlassOf'>,
  by: 'password' | 'passkey',
): void {
  if (breakGlassOf === undefined) return;
  mailBreakGlass(dashboard, { scope: breakGlassOf, userId, by, ip: auditSource.ip, now });
}
