/** What a person can sign in with. */
export type WaysIn = {
  readonly hasPassword: boolean;
  readonly hasSecondFactor: boolean;
  /** How many. */
  readonly passkeys: number;
  /** By single sign-on. */
  readonly isLinked: boolean;
};

/** Whether somebody has a way to sign in. Somebody without any, such as after an invitation, needs a link. */
export function canSignIn({ hasPassword, passkeys, isLinked }: WaysIn): boolean {
  return hasPassword || passkeys > 0 || isLinked;
}
