import type { Actor } from '../../../domain/audit/actor.ts';
import { invalidField } from '../../../domain/errors.ts';
import type { WebhookTargets } from '../../../domain/forbidden-address.ts';
import type { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import {
  NEW_PEOPLE_ROLES,
  type NewPeopleRole,
  parseClientId,
  parseClientSecret,
  parseGroupRoles,
  parseGroupsClaim,
  parseIssuer,
} from '../../../domain/people/single-sign-on.ts';
import { endSessionsByWay } from '../../../store/people/sessions.ts';
import {
  deleteSsoConnection,
  deleteSsoIdentities,
  deleteSsoSignIns,
  findSsoConnection,
  listSsoDomains,
  lockSsoConnection,
  type SsoConnectionRecord,
  type SsoDomainRecord,
  type SsoRules,
  saveSsoConnection,
  setSsoRules,
} from '../../../store/people/single-sign-on.ts';
import { listBreakGlassCandidates, listPeopleOutside, type SomePeople } from '../../../store/people/user-lists.ts';
import { type Database, type Transaction, transaction } from '../../../store/sql/database.ts';
import { placeOfClientSecret } from '../../../store/sql/secrets.ts';
import { changesBetween } from '../../audit/audit-log.ts';
import { checkAdministratorWithoutProvider, lockToGovern } from '../../authority/people.ts';
import { requireRight } from '../../authority/rights.ts';
import {
  type Conflict,
  catchInvalid,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  joinInvalid,
  parseEach,
  recordAct,
  runAction,
} from '../../outcome.ts';
import type { ProviderAccess } from '../../provider-access.ts';
import type { InTurn } from './begin.ts';
import { clientOf } from './connection.ts';
import type { ProviderClient, ProviderFailure, Tried } from './provider.ts';
import { verifiedDomainsOf } from './rules.ts';

/** The settings of how the users of an organization sign in, for its administrators. The client secret is not included. */
export type SignInSettings = {
  /** The connection; `null` if there is none. */
  readonly connection: Omit<SsoConnectionRecord, 'clientSecret'> | null;
  readonly domains: readonly SsoDomainRecord[];
  /** The administrators who can become the break-glass administrator. */
  readonly candidates: readonly { readonly id: string; readonly name: string; readonly email: string }[];
  /** The id of the break-glass administrator, or of a candidate to propose; `null` if there is no candidate. */
  readonly breakGlassId: string | null;
  /** The first users who could not sign in if single sign-on were required. */
  readonly shutOut: SomePeople;
};

export async function getSignInSettings(db: Database, { scope, role }: Actor): Promise<SignInSettings> {
  requireRight({ role }, 'govern');
  const found = await findSsoConnection(db.prisma, scope);
  const domains = await listSsoDomains(db.prisma, scope);
  if (found === null)
    return { connection: null, domains, candidates: [], breakGlassId: null, shutOut: { people: [], total: 0 } };
  const { clientSecret: _, ...connection } = found;
  const candidates = await listBreakGlassCandidates(db, scope);
  const breakGlassId = connection.breakGlassUserId ?? candidates[0]?.id ?? null;
  const shutOut = await listShutOut(db, scope, { domains, besides: breakGlassId });
  return { connection, domains, candidates, breakGlassId, shutOut };
}

const SHOWN_PEOPLE = 6;

/**
 * Returns the first users who could not sign in if single sign-on were required, because the organization has not verified the
 * domain of their e-mail. `besides` is the break-glass administrator, whom the list does not include.
 */
async function listShutOut(
  db: Database,
  scope: OrganizationScope,
  { domains, besides }: { readonly domains: readonly SsoDomainRecord[]; readonly besides: string | null },
): Promise<SomePeople> {
  return listPeopleOutside(db, scope, { domains: verifiedDomainsOf(domains), besides, limit: SHOWN_PEOPLE });
}

/**
 * Locks the organization, the actor and the connection, if there is one. Throws "forbidden" unless the actor may change the
 * settings.
 */
export async function lockSettings(tx: Transaction, actor: Actor) {
  const { current } = await lockToGovern(tx, actor);
  return { current, connection: await lockSsoConnection(tx, actor.scope) };
}

export const NO_CONNECTION = 'Your organization has no connection to an identity provider. Save one first.';
export const IS_REQUIRED = 'Single sign-on is required. Stop requiring it first.';

/**
 * A connection as it was typed. To save it, pass the issuer that `tryConnection` returned. An empty secret means the stored
 * secret, unless the issuer or the client ID has changed.
 */
export type ConnectionContent = { readonly issuer: string; readonly clientId: string; readonly clientSecret: string };

function readContent(
  { issuer, clientId, clientSecret }: ConnectionContent,
  { targets, stored }: { targets: WebhookTargets; stored: ProviderClient | null },
): { readonly kind: 'valid'; readonly client: ProviderClient } | Invalid {
  const parsedIssuer = catchInvalid(() => parseIssuer(issuer, targets));
  const parsedId = catchInvalid(() => parseClientId(clientId));
  const isSame =
    stored !== null &&
    parsedIssuer.kind === 'valid' &&
    withoutSlash(parsedIssuer.value) === withoutSlash(stored.issuer) &&
    parsedId.kind === 'valid' &&
    parsedId.value === stored.clientId;
  const parsedSecret = catchInvalid(() => {
    if (isSame && clientSecret.trim() === '') return stored.clientSecret;
    // The stored secret belongs to one provider, and must not be sent to another.
    if (stored !== null && clientSecret.trim() === '')
      throw invalidField('client_secret', 'must be given again for another issuer or client ID.');
    return parseClientSecret(clientSecret);
  });
  if (parsedIssuer.kind === 'invalid' || parsedId.kind === 'invalid' || parsedSecret.kind === 'invalid')
    return joinInvalid([parsedIssuer, parsedId, parsedSecret]);
  return {
    kind: 'valid',
    client: { issuer: parsedIssuer.value, clientId: parsedId.value, clientSecret: parsedSecret.value },
  };
}

/** Returns the issuer without a trailing slash, which makes no difference to the URL of the metadata. */
function withoutSlash(issuer: string): string {
  return issuer.replace(/\/$/, '');
}

/** Checks a connection before it is saved. Stores nothing. */
export async function tryConnection(
  db: Database,
  actor: Actor,
  {
    access,
    targets,
    redirectUri,
    inTurn,
    ...content
  }: ConnectionContent & {
    access: ProviderAccess;
    targets: WebhookTargets;
    redirectUri: string;
    inTurn: InTurn;
  },
): Promise<Tried | ProviderFailure | Invalid> {
  const stored = await inTurn(() => transaction(db, async (tx) => (await lockSettings(tx, actor)).connection));
  const read = readContent(content, { targets, stored: stored === null ? null : clientOf(db, stored) });
  if (read.kind === 'invalid') return read;
  const { tryProvider } = await import('./provider.ts');
  return tryProvider(access, read.client, redirectUri);
}

export async function saveConnection(
  db: Database,
  actor: Actor,
  { targets, ...content }: ConnectionContent & { targets: WebhookTargets },
): Promise<Done | Invalid | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const { connection } = await lockSettings(tx, actor);
    const stored = connection === null ? null : clientOf(db, connection);
    const read = readContent(content, { targets, stored });
    if (read.kind === 'invalid') return read;
    const { issuer, clientId, clientSecret } = read.client;
    const isSame = stored?.issuer === issuer && stored.clientId === clientId;
    if (isSame && stored.clientSecret === clientSecret) return DONE;
    // A mistake would lock out everybody except the break-glass administrator.
    if (connection !== null && connection.enforcedAt !== null && !isSame) return conflict(IS_REQUIRED);
    // With another client ID, the provider may use the same subject for another person.
    const refusal = stored === null || isSame ? null : await checkAdministratorWithoutProvider(tx, scope);
    if (refusal !== null) return refusal;
    const place = placeOfClientSecret(scope.organizationId);
    const encrypted = db.keyring.encrypt(Buffer.from(clientSecret), place);
    await saveSsoConnection(tx, scope, { issuer, clientId, clientSecret: encrypted });
    if (stored !== null && !isSame) {
      // The sessions are ended because an administrator who requires single sign-on must have a session that shows that this
      // connection works.
      await endSessionsByWay(tx, scope, 'single sign-on');
      // Sign-ins that have begun, or wait to be confirmed, refer to the subjects of the former client.
      await deleteSsoSignIns(tx, scope);
    }
    // The subjects of another provider are other people, so all users are unlinked.
    if (stored !== null && stored.issuer !== issuer) await deleteSsoIdentities(tx, scope);
    await recordAct(tx, actor, {
      action: 'sso.connection_saved',
      detail: {
        issuer: stored !== null && stored.issuer !== issuer ? `${stored.issuer} -> ${issuer}` : issuer,
        'client ID': stored !== null && stored.clientId !== clientId ? `${stored.clientId} -> ${clientId}` : clientId,
        'client secret': stored?.clientSecret === clientSecret ? 'as before' : 'new',
      },
    });
    return DONE;
  });
}

/** Removes the connection, ends the sessions that began by single sign-on, and unlinks all users. Verified domains stay. */
export async function removeConnection(db: Database, actor: Actor): Promise<Done | Conflict> {
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const { connection } = await lockSettings(tx, actor);
    if (connection === null) return conflict(NO_CONNECTION);
    if (connection.enforcedAt !== null) return conflict(IS_REQUIRED);
    const refusal = await checkAdministratorWithoutProvider(tx, scope);
    if (refusal !== null) return refusal;
    await deleteSsoConnection(tx, scope);
    await endSessionsByWay(tx, scope, 'single sign-on');
    const detail = { issuer: connection.issuer };
    await recordAct(tx, actor, { action: 'sso.connection_removed', detail });
    return DONE;
  });
}

/** The rules as they were typed. `newPeople` is "viewer", "member" or empty. */
export type RulesContent = { readonly newPeople: string; readonly groupsClaim: string; readonly groupRoles: string };

/**
 * Saves who gets an account by single sign-on, and which role each group gives. The rules apply from each person's next sign-in
 * on.
 */
export async function saveRules(db: Database, actor: Actor, content: RulesContent): Promise<Done | Invalid | Conflict> {
  const parsed = parseEach({
    newPeopleRole: () => parseNewPeople(content.newPeople),
    groupsClaim: () => parseGroupsClaim(content.groupsClaim),
    groupRoles: () => parseGroupRoles(content.groupRoles),
  });
  if (parsed.kind === 'invalid') return parsed;
  const rules = parsed.value;
  if (rules.groupsClaim === '' && rules.groupRoles.length > 0)
    return invalid('groups_claim', 'must be given for roles by group, such as groups. Or leave both empty.');
  const { scope } = actor;
  return runAction(db, async (tx) => {
    const { connection } = await lockSettings(tx, actor);
    if (connection === null) return conflict(NO_CONNECTION);
    const detail = changesBetween(wordsOf(connection), wordsOf(rules));
    if (Object.keys(detail).length === 0) return DONE;
    await setSsoRules(tx, scope, rules);
    await recordAct(tx, actor, { action: 'sso.rules_changed', detail });
    return DONE;
  });
}

function parseNewPeople(text: string): NewPeopleRole | null {
  const role = NEW_PEOPLE_ROLES.find((each) => each === text);
  if (role === undefined && text !== '') throw invalidField('new_people', 'must be one of those in the list.');
  return role ?? null;
}

function wordsOf({ newPeopleRole, groupsClaim, groupRoles }: SsoRules): Record<string, string> {
  return {
    'new people': newPeopleRole ?? 'no account',
    'claim with groups': groupsClaim === '' ? 'none' : groupsClaim,
    'roles by group': groupRoles.map(({ groupName, role }) => `${groupName} = ${role}`).join(', ') || 'none',
  };
}
