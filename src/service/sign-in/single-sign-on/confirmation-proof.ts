import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { changeUser, type LockedUser } from '../../../store/people/users.ts';
import type { Database, Transaction } from '../../../store/sql/database.ts';
import { type Invalid, invalid } from '../../outcome.ts';
import type { Attempt } from '../attempt-limits.ts';
import { readAssertion } from '../passkeys/ceremony.ts';
import { type GivenPasskey, PASSKEY_REFUSED, spendAndVerify, spendUse } from '../passkeys/use-passkey.ts';
import { verifyPassword } from '../password.ts';
import { spendCode } from '../second-factor-code.ts';

// What shows that an account is that of the person who confirms it.

export type GivenForAccount =
  | {
      readonly kind: 'password';
      /** Not read if the sign-in began from an access link. */
      readonly password: string;
      /** Read only if the user has a second factor. */
      readonly code: string;
    }
  /** Its challenge is that of a sign-in. */
  | ({ readonly kind: 'passkey' } & Omit<GivenPasskey, 'now'>);

/** `why`: for the audit log. */
export type ConfirmationRefusal = {
  readonly kind: 'refusal';
  readonly invalid: Invalid;
  readonly why: Readonly<Record<string, string>>;
};

/** Uses the proof up, in the transaction that links the user, who is locked. */
type Spend = (tx: Transaction, current: LockedUser) => Promise<ConfirmationRefusal | null>;

type ConfirmationProof = {
  readonly attempts: readonly Attempt[];
  /** Called once the attempts are admitted. */
  readonly verify: () => Promise<Spend | ConfirmationRefusal>;
};

type Proving<Given = GivenForAccount> = {
  readonly given: Given;
  readonly user: LockedUser;
  /** An open access link of the user replaces the password. */
  readonly hasLink: boolean;
  readonly ip: string;
  readonly now: Date;
};

export function proofOf(db: Database, scope: OrganizationScope, proving: Proving): ConfirmationProof {
  const { given } = proving;
  return given.kind === 'passkey'
    ? byPasskey(db, scope, { ...proving, given })
    : byPassword(db, scope, { ...proving, given });
}

function refusal(problem: Invalid, why: ConfirmationRefusal['why'] = {}): ConfirmationRefusal {
  return { kind: 'refusal', invalid: problem, why };
}

function byPassword(
  db: Database,
  scope: OrganizationScope,
  { given, user, hasLink, ip, now }: Proving<Extract<GivenForAccount, { kind: 'password' }>>,
): ConfirmationProof {
  const attempts: Attempt[] = hasLink ? [] : [{ at: 'password', account: user.email, ip }];
  if (user.totpSince !== null) attempts.push({ at: 'second-factor', account: user.id, ip });
  const spend: Spend = async (tx, current) => {
    if (current.totpSince === null) return null;
    const spent = spendCode(current, { keyring: db.keyring, code: given.code, now });
    if (spent === null) return refusal(invalid('code', 'is not right, or was used already.'));
    await changeUser(tx, scope, current.id, spent.change);
    return null;
  };
  const verify = async () =>
    hasLink || (await verifyPassword(user.passwordHash, given.password))
      ? spend
      : refusal(invalid('password', 'is not right.'));
  return { attempts, verify };
}

/** As at the sign-in, a passkey replaces the password and the second factor. */
function byPasskey(
  db: Database,
  scope: OrganizationScope,
  { given, user, ip, now }: Proving<Extract<GivenForAccount, { kind: 'passkey' }>>,
): ConfirmationProof {
  const response = readAssertion(given.credential);
  const verify = async () => {
    const use = await spendAndVerify(db, scope, { userId: user.id, response, given, purpose: 'sign_in', now });
    if (use === null) return refusal(PASSKEY_REFUSED, { why: 'the passkey did not sign what Charter asked for' });
    const spend: Spend = async (tx, current) => {
      const outcome = await spendUse(tx, scope, { userId: current.id, use, now });
      return outcome.kind === 'used' ? null : refusal(PASSKEY_REFUSED, { passkey: use.passkey.name, why: outcome.why });
    };
    return spend;
  };
  return { attempts: [{ at: 'passkey', account: response?.credentialId ?? '', ip }], verify };
}
