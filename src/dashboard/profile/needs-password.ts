import { findOwnWaysIn, NO_PASSWORD, type OwnWaysIn } from '../../service/single-sign-on/requirement.ts';
import { PROFILE_URL } from '../addresses.ts';
import type { SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { errorPage } from '../markup/error.ts';

/** A page about the password or the second factor, for those whose organization accepts them. */
export function needsPassword(get: (context: SignedInContext, ways: OwnWaysIn) => Promise<View>) {
  return async (context: SignedInContext): Promise<View> => {
    const ways = await findOwnWaysIn(context.dashboard.db, context.actor);
    if (ways.mayUsePassword) return get(context, ways);
    const link = { name: 'Go to My profile', href: PROFILE_URL };
    return errorPage(context, { status: 409, title: 'Single sign-on is required', message: NO_PASSWORD, link });
  };
}
