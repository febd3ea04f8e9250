import type { Actor, ActorOrOperator } from '../../../domain/audit/actor.ts';
import { DomainError } from '../../../domain/errors.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { parseDomain } from '../../../domain/people/email.ts';
import { MAX_DOMAINS, mintDomainToken, txtRecordOf } from '../../../domain/people/single-sign-on.ts';
import {
  deleteSsoDomain,
  hasVerifiedSsoDomain,
  insertSsoDomain,
  listSsoDomains,
  verifySsoDomain,
} from '../../../store/people/single-sign-on.ts';
import { type Database, type Transaction, transaction } from '../../../store/sql/database.ts';
import { isUniqueViolation } from '../../../store/sql/database-errors.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  recordAct,
  runAction,
} from '../../outcome.ts';
import type { ProviderAccess } from '../../provider-access.ts';
import { takeBackInvitations } from '../verified-domains.ts';
import type { InTurn } from './begin.ts';
import { IS_REQUIRED, lockSettings } from './settings.ts';

/**
 * Adds a domain that is not verified yet. Any organization can add any domain, because only the TXT record, or an operator,
 * proves whose domain it is.
 */
export async function addDomain(
  db: Database,
  actor: Actor,
  { domain: text }: { readonly domain: string },
): Promise<Done | Invalid | Conflict> {
  const read = catchInvalid(() => parseDomain(text));
  if (read.kind === 'invalid') return read;
  const domain = read.value;
  const { scope } = actor;
  return runAction(db, async (tx) => {
    await lockSettings(tx, actor);
    const domains = await listSsoDomains(tx, scope);
    if (domains.some((each) => each.domain === domain)) return invalid('domain', 'is in the list already.');
    if (domains.length >= MAX_DOMAINS)
      return conflict(`Your organization has ${MAX_DOMAINS} domains already. Remove one that is not needed.`);
    await insertSsoDomain(tx, scope, { domain, token: mintDomainToken() });
    await recordAct(tx, actor, { action: 'sso.domain_added', detail: { domain } });
    return DONE;
  });
}

const TAKEN = 'Another organization has verified this domain. If it is yours, contact support.';

/** Looks up the TXT record of a domain, and marks the domain as verified if the record is found. */
export async function verifyDomain(
  { db, access, inTurn }: { readonly db: Database; readonly access: ProviderAccess; readonly inTurn: InTurn },
  actor: Actor,
  { domain, now }: { readonly domain: string; readonly now: Date },
): Promise<Done | Conflict> {
  const { scope } = actor;
  const found = await inTurn(() =>
    transaction(db, async (tx) => {
      await lockSettings(tx, actor);
      return (await listSsoDomains(tx, scope)).find((each) => each.domain === domain);
    }),
  );
  if (found === undefined) return conflict('Your organization does not have this domain.');
  const { name, value } = txtRecordOf(found);
  const records = await access.resolveTxt(name).catch(() => null);
  if (records === null) return conflict(`DNS failed to look up ${name}. Try again later.`);
  if (!records.some((record) => record.trim() === value))
    return conflict(`${name} has no TXT record with this value. A new record can take an hour until it is visible.`);
  try {
    const verified = await inTurn(() =>
      runAction(db, async (tx) => {
        await lockSettings(tx, actor);
        return recordVerification(tx, actor, { ...found, now, by: 'a TXT record' });
      }),
    );
    if (verified.kind === 'done') await inTurn(() => takeBackInvitations(db, scope, domain));
    return verified;
  } catch (error) {
    if (isUniqueViolation(error)) return conflict(TAKEN);
    throw error;
  }
}

type Verification = {
  readonly domain: string;
  /**
   * The token of the TXT record that was looked up. The domain may have been removed and added again meanwhile, with another
   * token.
   */
  readonly token: string;
  readonly now: Date;
  /** The way in which the domain was verified, for the audit log. */
  readonly by: string;
};

/**
 * Records that the domain is verified. Calling it again changes nothing. Returns "conflict" if the domain has another token now.
 */
async function recordVerification(
  tx: Transaction,
  actor: ActorOrOperator,
  { domain, token, now, by }: Verification,
): Promise<Done | Conflict> {
  if (await verifySsoDomain(tx, actor.scope, { domain, token, at: now }))
    await recordAct(tx, actor, { action: 'sso.domain_verified', detail: { domain, by } });
  else if (!(await hasVerifiedSsoDomain(tx, actor.scope, domain)))
    return conflict(`${domain} was changed meanwhile. Check its new TXT record.`);
  return DONE;
}

/**
 * Verifies a domain for which an operator vouches, without its TXT record. Adds the domain to the organization if necessary.
 * Returns the domain in its normal form. Throws if another organization has verified the domain.
 */
export async function vouchForDomain(
  db: Database,
  scope: OrganizationScope,
  { domain: text, now = new Date() }: { readonly domain: string; readonly now?: Date },
): Promise<string> {
  const domain = parseDomain(text);
  const vouched = transaction(db, async (tx) => {
    const domains = await listSsoDomains(tx, scope);
    const known = domains.find((each) => each.domain === domain);
    const added = { domain, token: known?.token ?? mintDomainToken() };
    if (known === undefined) await insertSsoDomain(tx, scope, added);
    await recordVerification(tx, { kind: 'operator', scope }, { ...added, now, by: 'an operator' });
  });
  await vouched.catch((error: unknown) => {
    if (!isUniqueViolation(error)) throw error;
    throw new DomainError('conflict', `Another organization has verified the domain ${domain}. Remove it there first.`);
  });
  await takeBackInvitations(db, scope, domain);
  return domain;
}

/** Removes a domain. Users who are linked can still sign in, but no more users are linked by an e-mail of the domain. */
export async function removeDomain(
  db: Database,
  actor: Actor,
  { domain }: { readonly domain: string },
): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const { connection } = await lockSettings(tx, actor);
    const removed = await deleteSsoDomain(tx, scope, domain);
    if (removed === null) return conflict('Your organization does not have this domain.');
    if (removed.verifiedAt !== null && connection !== null && connection.enforcedAt !== null)
      return conflict(IS_REQUIRED);
    await recordAct(tx, actor, { action: 'sso.domain_removed', detail: { domain } });
    return DONE;
  });
}
