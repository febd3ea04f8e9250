import type { ProviderFailure } from './provider.ts';

/** The user is signed in. `token` is that of the session, and `email` that of the user, whatever was typed. */
export type SignedInByProvider = {
  readonly kind: 'signed-in';
  readonly email: string;
  readonly token: string;
  readonly next: string;
};
/** A user has the e-mail of the person, who must confirm that the account is theirs. `token` is for the URL of the confirmation. */
export type ToConfirm = { readonly kind: 'to-confirm'; readonly token: string };
/** The sign-in took too long, was completed before, or began in another browser. */
export type Lost = { readonly kind: 'lost' };
export const LOST: Lost = { kind: 'lost' };
/** The provider knows the person, but Charter does not sign them in. */
export type NotAdmitted = { readonly kind: 'not-admitted'; readonly reason: NotAdmittedReason };
export type NotAdmittedReason =
  /** The provider gives no e-mail, or says that it is not verified. */
  | 'no-email'
  /** The e-mail is not of a verified domain of the organization. */
  | 'foreign-domain'
  /** Nobody in the organization has the e-mail, and new people get no account. */
  | 'no-account'
  /** The user with the e-mail is linked to another person at the provider. */
  | 'other-person'
  | 'deactivated';

/** A proof by a sign-in at the provider has ended. `next` and `sealedForm` are those with which it began. */
export type AfterProof = {
  readonly kind: 'after-proof';
  readonly outcome: ProvenByProvider | NotProven | Lost | ProviderFailure;
  readonly next: string;
  readonly sealedForm: Buffer;
};
/** The proof of the session is fresh. */
export type ProvenByProvider = { readonly kind: 'proven' };
/** The sign-in at the provider does not prove who is at the browser now. */
export type NotProven = { readonly kind: 'not-proven'; readonly reason: NotProvenReason };
export type NotProvenReason =
  /** The ID token does not say when the person signed in. */
  | 'no-time'
  /** The person signed in before Charter asked for it. */
  | 'not-anew'
  /** The browser's session is that of another person, or has ended. */
  | 'other-session';

export type Completion = SignedInByProvider | AfterProof | ToConfirm | Lost | NotAdmitted | ProviderFailure;

export function notAdmittedFor(reason: NotAdmittedReason): NotAdmitted {
  return { kind: 'not-admitted', reason };
}
