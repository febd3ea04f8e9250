import { ONE_TIME_FORM } from '../forms/fields.ts';
import {
  CONFIRM_SECOND_FACTOR_URL,
  DISMISS_URL,
  NEW_PASSKEY_OPTIONS_URL,
  NEW_PASSKEY_URL,
  OWN_KEYS_URL,
  PASSWORD_URL,
  PROFILE_URL,
  PROOF_OPTIONS_URL,
  passkeyUrl,
  RECOVERY_CODES_URL,
  REMOVE_SECOND_FACTOR_URL,
  SECOND_FACTOR_URL,
  SESSIONS_URL,
  SIGN_OUT_EVERYWHERE_URL,
  SIGN_OUT_URL,
} from '../http/addresses.ts';
import { keyPages } from '../keys/routes.ts';
import { sendProofOptions } from '../proof/page.ts';
import { provenForm, provenPage } from '../proof/proven.ts';
import { anyRole, form, type SignedInPage } from '../routing/page-routes.ts';
import { submitSignOut } from '../sign-in/sign-in.ts';
import {
  ADD_FORM,
  add,
  passkeyNameOf,
  RENAME_FORM,
  remove as removePasskey,
  rename,
  sendNewOptions,
  showNewPasskey,
  showPasskey,
} from './passkeys.ts';
import {
  changeOwnPassword,
  DISMISS_FORM,
  dismiss,
  needsPassword,
  PASSWORD_FORM,
  profileHead,
  showPassword,
  showProfile,
} from './profile.ts';
import { begin, CONFIRM_FORM, confirm, remove, renew, showRenew, showSecondFactor } from './second-factor.ts';
import { END_FORM, endOne, showSessions, signOutEverywhere } from './sessions.ts';

const PASSKEY_ID = ':passkeyId';

/** The pages about the signed-in person's own account. */
export const profilePages: readonly SignedInPage[] = [
  { path: SIGN_OUT_URL, mayEnter: anyRole, postsDuringMove: true, post: form({}, submitSignOut) },
  { path: PROFILE_URL, mayEnter: anyRole, get: showProfile },
  {
    path: PASSWORD_URL,
    mayEnter: anyRole,
    get: needsPassword(showPassword),
    post: provenForm('change your password', PASSWORD_FORM, changeOwnPassword),
  },
  {
    path: SECOND_FACTOR_URL,
    mayEnter: anyRole,
    get: needsPassword(showSecondFactor),
    post: provenForm('set up a second factor', {}, begin),
  },
  {
    path: CONFIRM_SECOND_FACTOR_URL,
    mayEnter: anyRole,
    post: provenForm('turn on your second factor', CONFIRM_FORM, confirm),
  },
  { path: REMOVE_SECOND_FACTOR_URL, mayEnter: anyRole, post: provenForm('turn off your second factor', {}, remove) },
  {
    path: RECOVERY_CODES_URL,
    mayEnter: anyRole,
    get: needsPassword(showRenew),
    post: provenForm('make new recovery codes', ONE_TIME_FORM, renew),
  },
  {
    path: NEW_PASSKEY_URL,
    mayEnter: anyRole,
    get: provenPage('add a passkey', showNewPasskey),
    post: provenForm('add a passkey', ADD_FORM, add),
  },
  { path: NEW_PASSKEY_OPTIONS_URL, mayEnter: anyRole, post: form({}, sendNewOptions) },
  { path: passkeyUrl(PASSKEY_ID), mayEnter: anyRole, get: showPasskey, post: form(RENAME_FORM, rename) },
  {
    path: passkeyUrl(PASSKEY_ID, 'remove'),
    mayEnter: anyRole,
    post: provenForm('remove the passkey', {}, removePasskey, { nameOf: passkeyNameOf }),
  },
  { path: PROOF_OPTIONS_URL, mayEnter: anyRole, post: form({}, sendProofOptions) },
  { path: SESSIONS_URL, mayEnter: anyRole, get: showSessions, post: form(END_FORM, endOne) },
  { path: DISMISS_URL, mayEnter: anyRole, post: form(DISMISS_FORM, dismiss) },
  { path: SIGN_OUT_EVERYWHERE_URL, mayEnter: anyRole, post: form({}, signOutEverywhere) },
  ...keyPages({
    listPath: OWN_KEYS_URL,
    mayEnter: anyRole,
    holderKind: 'person',
    locate: ({ actor }) => ({
      holderId: actor.userId,
      listUrl: OWN_KEYS_URL,
      head: () => profileHead('api-keys'),
    }),
  }),
];
