import { v7 as newId } from 'uuid';
import { isLinkOpen } from '../../domain/access-link.ts';
import type { AuditSource } from '../../domain/actor.ts';
import { domainOfEmail } from '../../domain/single-sign-on.ts';
import { useAccessLink } from '../../store/access-links.ts';
import { recordAudit } from '../../store/audit.ts';
import { type Database, transaction } from '../../store/database.ts';
import { isUniqueViolation } from '../../store/database-errors.ts';
import { hasVerifiedSsoDomain } from '../../store/sso-domains.ts';
import { findSsoUser, findUserIdByEmail, hasSsoIdentity } from '../../store/sso-identities.ts';
import { insertSsoSignIn, type SsoSignInRecord } from '../../store/sso-sign-ins.ts';
import { findAccessLinkByHash } from '../../store/unscoped.ts';
import { insertUser, lockUser } from '../../store/users.ts';
import { mintHashedToken } from '../accounts/start-session.ts';
import type { Person } from './claims.ts';
import {
  BY_SINGLE_SIGN_ON,
  type NotAdmitted,
  notAdmitted,
  type SignedInByProvider,
  type ToConfirm,
} from './completion.ts';
import type { Connection } from './scope.ts';
import { linkUser, signInLinked } from './sign-in-linked.ts';

type Arrival = {
  readonly person: Person;
  readonly signIn: SsoSignInRecord;
  readonly browserHash: Buffer;
  readonly auditSource: AuditSource;
  readonly now: Date;
};

/**
 * Identity is the issuer and the subject. Only somebody whom nobody is linked to yet is found by the e-mail, which must be of a
 * verified domain, and only among the people of this organization.
 */
export async function admit(
  db: Database,
  { scope, record }: Connection,
  arrival: Arrival,
): Promise<SignedInByProvider | ToConfirm | NotAdmitted> {
  const { person, signIn, browserHash, auditSource, now } = arrival;
  const link = signIn.linkHash === null ? null : await findAccessLinkByHash(db, signIn.linkHash);
  try {
    return await transaction(db, async (tx) => {
      const known = await findSsoUser(tx, scope, person);
      if (known !== null) return signInLinked(tx, scope, { ...arrival, userId: known });
      const { email } = person;
      if (email === null) return notAdmitted('no-email');
      if (!(await hasVerifiedSsoDomain(tx, scope, domainOfEmail(email)))) return notAdmitted('foreign-domain');
      const userId = await findUserIdByEmail(tx, scope, email);
      if (userId === null) {
        if (record.newPeopleRole === null) return notAdmitted('no-account');
        const id = newId();
        const role = person.groupRole ?? record.newPeopleRole;
        await insertUser(tx, scope, { id, email, name: person.name, role, passwordHash: null });
        await recordAudit(tx, scope, {
          action: 'user.created_by_sso',
          actorUserId: null,
          targetUserId: id,
          detail: { role, by: BY_SINGLE_SIGN_ON },
          auditSource,
        });
        await linkUser(tx, scope, { ...arrival, userId: id });
        return signInLinked(tx, scope, { ...arrival, userId: id });
      }
      const user = await lockUser(tx, scope, userId);
      if (user === null || user.deactivatedAt !== null) return notAdmitted('deactivated');
      if (await hasSsoIdentity(tx, scope, userId)) return notAdmitted('other-person');
      const isProven =
        link !== null &&
        signIn.linkHash !== null &&
        link.organizationId === scope.organizationId &&
        link.userId === userId &&
        isLinkOpen(link, now) &&
        (await useAccessLink(tx, scope, { tokenHash: signIn.linkHash, at: now }));
      if (isProven) {
        await linkUser(tx, scope, { ...arrival, userId });
        return signInLinked(tx, scope, { ...arrival, userId });
      }
      const { token, tokenHash } = mintHashedToken();
      const { subject, sid, groupRole } = person;
      await insertSsoSignIn(tx, scope, {
        ...signIn,
        tokenHash,
        browserHash,
        linkHash: null,
        person: { userId, subject, sid, groupRole },
        createdAt: now,
      });
      return { kind: 'to-confirm', token };
    });
  } catch (error) {
    // A user of another organization has the e-mail, which must not be told, or a concurrent sign-in has linked the person.
    if (isUniqueViolation(error)) return notAdmitted('no-account');
    throw error;
  }
}
