import { DomainError } from '../../domain/errors.ts';
import {
  type Environment,
  endOf,
  findKeyInText,
  hashKey,
  holderText,
  isWholePrefix,
} from '../../domain/keys/api-key.ts';
import { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import type { Permission } from '../../domain/people/role.ts';
import { findMove } from '../../store/organizations/organization-moves.ts';
import type { Database } from '../../store/sql/database.ts';
import { listKeysByHash } from '../../store/unscoped/keys.ts';
import { findIntegrationById, findKeyById, listKeysByPrefix } from '../../store/unscoped/operator.ts';
import { type IssuedKey, issueKey } from '../keys/issue-key.ts';
import { revokeKey } from '../keys/revoke-key.ts';
import { orThrow } from '../outcome.ts';
import { getUserByEmailOrId } from './users.ts';

export type OperatorKeyRequest = {
  email: string;
  name: string;
  permissions: readonly Permission[];
  lifeDays: number | null;
  environment: Environment;
  cell?: string | null;
};

export async function issueKeyByEmail(
  db: Database,
  { email, ...request }: OperatorKeyRequest,
): Promise<IssuedKey & { organizationId: string }> {
  const { scope, userId } = await getUserByEmailOrId(db, email);
  const issued = orThrow(await issueKey(db, { kind: 'operator', scope }, { ...request, userId }));
  return { ...issued, organizationId: scope.organizationId };
}

export async function issueKeyForIntegration(
  db: Database,
  { integrationId, ...request }: Omit<OperatorKeyRequest, 'email'> & { integrationId: string },
): Promise<IssuedKey & { organizationId: string }> {
  const integration = await findIntegrationById(db, integrationId);
  if (integration === null) throw new DomainError('not_found', `There is no integration with the id ${integrationId}.`);
  const { organizationId } = integration;
  const operator = { kind: 'operator', scope: OrganizationScope.grant(organizationId) } as const;
  return { ...orThrow(await issueKey(db, operator, { ...request, userId: integrationId })), organizationId };
}

/**
 * Revokes the key with this id. `isMoving` in the result says whether the organization is moving to another installation, which
 * will revoke the key, too, when the move is completed.
 */
export async function revokeKeyById(db: Database, id: string): Promise<{ readonly isMoving: boolean }> {
  const key = await findKeyById(db, id);
  if (key === null) throw new DomainError('not_found', `There is no API key with the id ${id}.`);
  const scope = OrganizationScope.grant(key.organizationId);
  orThrow(await revokeKey(db, { kind: 'operator', scope }, { keyId: id, userId: key.userId }));
  return { isMoving: (await findMove(db.prisma, scope)) !== null };
}

/**
 * Revokes the key with this text or prefix, such as "charter_live_Ab3d". If several keys have the prefix, it revokes none and
 * throws an error that lists them. Returns the key's id as well.
 */
export async function revokeKeyByText(
  db: Database,
  text: string,
): Promise<{ readonly id: string; readonly isMoving: boolean }> {
  const found = findKeyInText(text);
  if (found === null || !isWholePrefix(found.prefix)) {
    throw new DomainError('invalid', 'Give a whole API key, or a prefix such as charter_live_Ab3d.');
  }
  if (found.kind === 'mistyped') {
    throw new DomainError(
      'invalid',
      'The key is mistyped or incomplete: its checksum is wrong. Check it, or give its prefix.',
    );
  }
  const id = found.kind === 'whole' ? await getIdOfKey(db, found.key) : await getIdByPrefix(db, found.prefix);
  return { id, ...(await revokeKeyById(db, id)) };
}

async function getIdOfKey(db: Database, key: string): Promise<string> {
  const hash = hashKey(key);
  const found = (await listKeysByHash(db, [hash])).get(hash);
  if (found === undefined) throw new DomainError('not_found', 'There is no such API key.');
  return found.id;
}

async function getIdByPrefix(db: Database, prefix: string): Promise<string> {
  const keys = await listKeysByPrefix(db, prefix);
  const [first] = keys;
  if (first === undefined) throw new DomainError('not_found', `There is no API key with the prefix ${prefix}.`);
  if (keys.length === 1) return first.id;
  const lines = keys.map((key) => {
    const state = endOf(key, new Date())?.kind ?? 'active';
    return `  ${key.id}  ${state}  ${JSON.stringify(key.name)} of ${holderText(key.user)}`;
  });
  throw new DomainError(
    'conflict',
    [`Several API keys have the prefix ${prefix}. None was revoked. Give the --id of one of them:`, ...lines].join(
      '\n',
    ),
  );
}
