import { form, type Section } from '../http/page-routes.ts';
import { keyPages } from '../keys/routes.ts';
import { DISMISS_URL } from '../markup/key-notices.ts';
import { submitSignOut } from '../sign-in/sign-in.ts';
import { dismiss } from './notices.ts';
import { changeOwnPassword, showPassword } from './password.ts';
import { profileHead, SESSIONS_URL, showProfile } from './profile.ts';
import { RECOVERY_CODES_URL, renew, showRenew } from './recovery-codes.ts';
import { begin, confirm, remove, showSecondFactor } from './second-factor.ts';
import { endOne, showSessions, signOutEverywhere } from './sessions.ts';

/** One's own account, for every role. */
export const profileSection: Section = {
  pages: [
    { path: '/sign-out', post: form([], submitSignOut) },
    { path: '/profile', get: showProfile },
    { path: '/profile/password', get: showPassword, post: form(['current_password', 'password'], changeOwnPassword) },
    { path: '/profile/second-factor', get: showSecondFactor, post: form(['password'], begin) },
    { path: '/profile/second-factor/confirm', post: form(['code', 'secret'], confirm) },
    { path: '/profile/second-factor/remove', post: form(['password'], remove) },
    { path: RECOVERY_CODES_URL, get: showRenew, post: form(['password', 'form_id'], renew) },
    { path: SESSIONS_URL, get: showSessions, post: form(['session_id'], endOne) },
    { path: DISMISS_URL, post: form(['notice', 'next'], dismiss) },
    { path: `${SESSIONS_URL}/sign-out-everywhere`, post: form([], signOutEverywhere) },
    ...keyPages({
      root: '/profile',
      isOfIntegrations: false,
      locate: ({ actor }) => ({
        holderId: actor.userId,
        listUrl: '/profile/api-keys',
        head: () => profileHead('api-keys'),
      }),
    }),
  ],
};
