import type { SignedIn } from '../../service/accounts/sign-in.ts';
import { mailBreakGlass } from '../../service/single-sign-on/enforcement.ts';
import type { RequestContext } from '../http/request-context.ts';

/** Tells the administrators, if a password was accepted although single sign-on is required. */
export function tellBreakGlass(
  { dashboard, auditSource, now }: RequestContext,
  { userId, breakGlassOf }: Pick<SignedIn, 'userId' | 'breakGlassOf'>,
): void {
  if (breakGlassOf !== undefined) mailBreakGlass(dashboard, { scope: breakGlassOf, userId, ip: auditSource.ip, now });
}
