import { OrganizationScope } from '../../../domain/organizations/organization-scope.ts';
import { domainOfEmail } from '../../../domain/people/email.ts';
import { isId } from '../../../domain/text.ts';
import {
  findSsoConnection,
  type SsoConnectionRecord,
  shareSsoConnection,
} from '../../../store/people/single-sign-on.ts';
import type { Database, Transaction } from '../../../store/sql/database.ts';
import { placeOfClientSecret } from '../../../store/sql/secrets.ts';
import { findSsoOrganization } from '../../../store/unscoped/people.ts';
import type { ProviderClient } from './provider.ts';

export type Connection = {
  readonly scope: OrganizationScope;
  readonly record: SsoConnectionRecord;
  readonly client: ProviderClient;
};

/** Finds the connection for people with this e-mail. The result depends only on the domain of the e-mail. */
export async function findConnectionForEmail(db: Database, email: string): Promise<Connection | null> {
  const organizationId = await findSsoOrganization(db, domainOfEmail(email));
  return organizationId === null ? null : findConnectionById(db, organizationId);
}

/**
 * Finds the connection of the organization with the id in a URL. The scope of the connection may be used only for a sign-in that
 * the provider confirms.
 */
export async function findConnectionById(db: Database, organizationId: string): Promise<Connection | null> {
  if (!isId(organizationId)) return null;
  const scope = OrganizationScope.grant(organizationId);
  const record = await findSsoConnection(db.prisma, scope);
  return record === null ? null : { scope, record, client: clientOf(db, record) };
}

/**
 * Locks the connection against changes until the transaction ends, and returns the connection. Returns `null` if the issuer or
 * the client ID was changed since the connection was read, because a response of the former provider is no longer valid.
 */
export async function shareConnection(
  tx: Transaction,
  { scope, record }: Connection,
): Promise<SsoConnectionRecord | null> {
  const current = await shareSsoConnection(tx, scope);
  return current?.issuer === record.issuer && current.clientId === record.clientId ? current : null;
}

export function clientOf(
  { keyring }: Pick<Database, 'keyring'>,
  { organizationId, issuer, clientId, clientSecret }: SsoConnectionRecord,
): ProviderClient {
  const secret = keyring.decrypt(clientSecret, placeOfClientSecret(organizationId)).toString('utf8');
  return { issuer, clientId, clientSecret: secret };
}

/** Returns the URLs that an organization's provider uses. `origin` is the origin of this server's public URL. */
export function connectionUrls(origin: string, organizationId: string) {
  const url = (path: string) => `${origin}/single-sign-on/${organizationId}/${path}`;
  return { redirectUri: url('callback'), initiateLoginUri: url('start'), backChannelLogoutUri: url('logout') };
}
