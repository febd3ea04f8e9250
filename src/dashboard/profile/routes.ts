import { form, type Section } from '../http/page-routes.ts';
import { keyPages } from '../keys/routes.ts';
import { leave } from '../sign-in/sign-in.ts';
import { changeOwnPassword, showPassword } from './password.ts';
import { profileHead, SESSIONS, showProfile } from './profile.ts';
import { RECOVERY_CODES, renew, showRenew } from './recovery-codes.ts';
import { begin, confirm, remove, showSecondFactor } from './second-factor.ts';
import { endOne, showSessions, signOutEverywhere } from './sessions.ts';

/** One's own account, for every role. */
export const profileSection: Section = {
  pages: [
    { path: '/sign-out', post: form([], leave) },
    { path: '/profile', get: showProfile },
    { path: '/profile/password', get: showPassword, post: form(['current_password', 'password'], changeOwnPassword) },
    { path: '/profile/second-factor', get: showSecondFactor, post: form(['password'], begin) },
    { path: '/profile/second-factor/confirm', post: form(['code', 'secret'], confirm) },
    { path: '/profile/second-factor/remove', post: form(['password'], remove) },
    { path: RECOVERY_CODES, get: showRenew, post: form(['password', 'form_id'], renew) },
    { path: SESSIONS, get: showSessions, post: form(['session_id'], endOne) },
    { path: `${SESSIONS}/sign-out-everywhere`, post: form([], signOutEverywhere) },
    ...keyPages({
      root: '/profile',
      locate: ({ actor }) => ({
        holderId: actor.userId,
        listUrl: '/profile/api-keys',
        head: () => profileHead('api-keys'),
      }),
    }),
  ],
};
