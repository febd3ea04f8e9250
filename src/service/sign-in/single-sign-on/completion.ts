import type { ProviderFailure } from './provider.ts';

/**
 * The outcome of a completed sign-in. `token` is the token of the session. `email` is the user's e-mail, which may differ from
 * the typed one.
 */
export type SignedInByProvider = {
  readonly kind: 'signed-in';
  readonly email: string;
  readonly token: string;
  readonly next: string;
};
/**
 * The outcome if a user has the person's e-mail. The person must first confirm that the account is theirs. `token` is for the URL
 * of the confirmation page.
 */
export type ToConfirm = { readonly kind: 'to-confirm'; readonly token: string };
/** The outcome if the sign-in took too long, was already completed, or began in another browser. */
export type Lost = { readonly kind: 'lost' };
export const LOST: Lost = { kind: 'lost' };
/** The outcome if the provider has authenticated the person, but Charter does not sign them in. */
export type NotAdmitted = { readonly kind: 'not-admitted'; readonly reason: NotAdmittedReason };
export type NotAdmittedReason =
  /** The provider gives no e-mail, or says that it is not verified. */
  | 'no-email'
  /** The organization has not verified the domain of the e-mail. */
  | 'foreign-domain'
  /** No user of the organization has the e-mail, and new people get no account. */
  | 'no-account'
  /** The user with the e-mail is linked to another person at the provider. */
  | 'other-person'
  | 'deactivated';

/** The outcome of a sign-in that was begun as a proof, with the `next` and the `sealedForm` that were given at its beginning. */
export type AfterProof = {
  readonly kind: 'after-proof';
  readonly outcome: ProvenByProvider | NotProven | Lost | ProviderFailure;
  readonly next: string;
  readonly sealedForm: Buffer;
};
/** The user of the session has proved who they are. */
export type ProvenByProvider = { readonly kind: 'proven' };
/** The sign-in at the provider does not prove who uses the browser now. */
export type NotProven = { readonly kind: 'not-proven'; readonly reason: NotProvenReason };
export type NotProvenReason =
  /** The ID token has no claim that says when the person signed in. */
  | 'no-time'
  /** The person signed in before Charter asked for it. */
  | 'not-anew'
  /** The browser's session belongs to another person, or has ended. */
  | 'other-session';

export type Completion = SignedInByProvider | AfterProof | ToConfirm | Lost | NotAdmitted | ProviderFailure;

export function notAdmittedFor(reason: NotAdmittedReason): NotAdmitted {
  return { kind: 'not-admitted', reason };
}
