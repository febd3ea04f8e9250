import { form, type Section } from '../http/page-routes.ts';
import { keyPages } from '../keys/routes.ts';
import { DISMISS_URL } from '../markup/key-notices.ts';
import { PROOF_OPTIONS_URL, PROVIDER_PROOF_URL, sendProofOptions } from '../proof/page.ts';
import { MAX_PROVEN, provenForm, provenPage } from '../proof/proven.ts';
import { PROVIDER_PROOF_FIELDS, proveAtProvider } from '../sign-in/provider-proof.ts';
import { submitSignOut } from '../sign-in/sign-in.ts';
import { needsPassword } from './needs-password.ts';
import { dismiss } from './notices.ts';
import {
  add,
  NEW_PASSKEY_URL,
  ONE_PASSKEY,
  PASSKEY_OPTIONS_URL,
  passkeyNameOf,
  remove as removePasskey,
  rename,
  sendNewOptions,
  showNewPasskey,
  showPasskey,
} from './passkeys.ts';
import { changeOwnPassword, showPassword } from './password.ts';
import { profileHead, SESSIONS_URL, showProfile } from './profile.ts';
import { RECOVERY_CODES_URL, renew, showRenew } from './recovery-codes.ts';
import { begin, confirm, remove, showSecondFactor } from './second-factor.ts';
import { endOne, showSessions, signOutEverywhere } from './sessions.ts';

/** One's own account, for every role. */
export const profileSection: Section = {
  pages: [
    { path: '/sign-out', postsDuringMove: true, post: form([], submitSignOut) },
    { path: '/profile', get: showProfile },
    {
      path: '/profile/password',
      get: needsPassword(showPassword),
      post: provenForm('change your password', ['password'], changeOwnPassword),
    },
    {
      path: '/profile/second-factor',
      get: needsPassword(showSecondFactor),
      post: provenForm('set up a second factor', [], begin),
    },
    {
      path: '/profile/second-factor/confirm',
      post: provenForm('turn on your second factor', ['code', 'secret'], confirm),
    },
    { path: '/profile/second-factor/remove', post: provenForm('turn off your second factor', [], remove) },
    {
      path: RECOVERY_CODES_URL,
      get: needsPassword(showRenew),
      post: provenForm('make new recovery codes', ['form_id'], renew),
    },
    {
      path: NEW_PASSKEY_URL,
      get: provenPage('add a passkey', showNewPasskey),
      post: provenForm('add a passkey', ['name', 'credential'], add),
    },
    { path: PASSKEY_OPTIONS_URL, post: form([], sendNewOptions) },
    { path: ONE_PASSKEY, get: showPasskey, post: form(['name'], rename) },
    {
      path: `${ONE_PASSKEY}/remove`,
      post: provenForm('remove the passkey', [], removePasskey, { nameOf: passkeyNameOf }),
    },
    {
      path: PROVIDER_PROOF_URL,
      post: form(PROVIDER_PROOF_FIELDS, proveAtProvider, { takesTurns: true, size: MAX_PROVEN }),
    },
    { path: PROOF_OPTIONS_URL, post: form([], sendProofOptions) },
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
