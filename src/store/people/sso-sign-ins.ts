import { memberOf } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { SIGN_IN_MINUTES } from '../../domain/people/single-sign-on.ts';
import { MINUTE_MS } from '../../domain/time.ts';
import type { Database, Transaction } from '../sql/database.ts';
import { BATCH_ROWS, type Deletion, deleteInBatches } from '../sql/delete-in-batches.ts';

/** A person at the provider with the e-mail of a user, who has not confirmed yet that the account is theirs. */
export type UnconfirmedPerson = {
  readonly userId: string;
  readonly subject: string;
  /** The provider's id of the session; empty if it gave none. */
  readonly sid: string;
  /** What the provider said. What follows from it is decided when the user confirms. */
  readonly claims: UnconfirmedClaims;
};

/** `groupsClaim`: the name of the claim with the groups. `groups`: undefined if the provider did not send it. */
export type UnconfirmedClaims = {
  readonly email: string;
  readonly groupsClaim: string;
  readonly groups?: readonly string[] | undefined;
};

export type SsoSignInRecord = {
  readonly issuer: string;
  readonly next: string;
  /** The e-mail that was typed; empty if it began at the provider. */
  readonly email: string;
  /** What goes on after the sign-in, which proves who the user of a session is and signs nobody in. `null` for any other one. */
  readonly sealedForm: Buffer | null;
  /** SHA-256 of the token of the access link from which it began. */
  readonly linkHash: Buffer | null;
  /** `null` while the sign-in is at the provider. */
  readonly person: UnconfirmedPerson | null;
  readonly createdAt: Date;
};

export type NewSsoSignIn = SsoSignInRecord & { readonly tokenHash: Buffer; readonly browserHash: Buffer };

export async function insertSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash, linkHash, sealedForm, person, ...signIn }: NewSsoSignIn,
): Promise<void> {
  await tx.ssoSignIn.create({
    data: {
      organizationId,
      tokenHash: Uint8Array.from(tokenHash),
      browserHash: Uint8Array.from(browserHash),
      linkHash: linkHash === null ? null : Uint8Array.from(linkHash),
      sealedForm: sealedForm === null ? null : Uint8Array.from(sealedForm),
      ...signIn,
      ...person,
    },
    select: { createdAt: true },
  });
}

type SignInKey = { readonly tokenHash: Buffer; readonly browserHash: Buffer };

/** The sign-in that this browser began; `null` if there is none. */
export async function findSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash }: SignInKey,
): Promise<SsoSignInRecord | null> {
  const row = await tx.ssoSignIn.findUnique({
    where: {
      organizationId_tokenHash: { organizationId, tokenHash: Uint8Array.from(tokenHash) },
      browserHash: Uint8Array.from(browserHash),
    },
  });
  if (row === null) return null;
  const { userId, subject, sid, claims: stored, groupRole: _, linkHash, sealedForm, ...signIn } = row;
  const claims = claimsOf(stored);
  const person = userId === null || subject === null || claims === null ? null : { userId, subject, sid, claims };
  return {
    ...signIn,
    linkHash: linkHash === null ? null : Buffer.from(linkHash),
    sealedForm: sealedForm === null ? null : Buffer.from(sealedForm),
    person,
  };
}

/** `null` for a confirmation of a server of the previous version. */
function claimsOf(stored: unknown): UnconfirmedClaims | null {
  const [email, groupsClaim, groups] = ['email', 'groupsClaim', 'groups'].map((name) => memberOf(stored, name));
  if (typeof email !== 'string' || typeof groupsClaim !== 'string') return null;
  const isList = Array.isArray(groups) && groups.every((each) => typeof each === 'string');
  return isList ? { email, groupsClaim, groups } : { email, groupsClaim };
}

/** Of concurrent calls, one returns true, so that nothing is used twice. */
export async function deleteSsoSignIn(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { tokenHash, browserHash }: SignInKey,
): Promise<boolean> {
  const where = {
    organizationId,
    tokenHash: Uint8Array.from(tokenHash),
    browserHash: Uint8Array.from(browserHash),
  };
  return (await tx.ssoSignIn.deleteMany({ where })).count === 1;
}

/** Deletes the sign-ins that wait for a confirmation: those with one of `sids`, or any if it is `undefined`. */
export async function deleteUnconfirmed(
  tx: Transaction,
  { organizationId }: OrganizationScope,
  { issuer, subject, sids }: { issuer: string; subject: string | null; sids: readonly string[] | undefined },
): Promise<void> {
  await tx.ssoSignIn.deleteMany({
    where: {
      organizationId,
      issuer,
      subject: subject ?? { not: null },
      ...(sids !== undefined && { sid: { in: [...sids] } }),
    },
  });
}

/** Deletes the sign-ins under way of all people of the organization. */
export async function deleteSsoSignIns(tx: Transaction, { organizationId }: OrganizationScope): Promise<void> {
  await tx.ssoSignIn.deleteMany({ where: { organizationId } });
}

/** Deletes the expired sign-ins of all organizations, in batches. Returns how many. */
export async function deleteExpiredSsoSignIns(db: Database, deletion: Deletion): Promise<number> {
  const createdBefore = new Date(deletion.now.getTime() - SIGN_IN_MINUTES * MINUTE_MS);
  return deleteInBatches(
    deletion,
    () => db.prisma.$executeRaw`
      delete from sso_sign_ins where (organization_id, token_hash) in (
        select organization_id, token_hash from sso_sign_ins where created_at <= ${createdBefore}
        order by created_at limit ${BATCH_ROWS}::int for update skip locked)`,
  );
}
