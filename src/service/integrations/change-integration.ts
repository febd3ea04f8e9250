import { v7 as newId } from 'uuid';
import { type Actor, type ActorOrOperator, isOperator } from '../../domain/audit/actor.ts';
import { invalidField } from '../../domain/errors.ts';
import { parseName, parseText } from '../../domain/name.ts';
import { parseEmail } from '../../domain/people/email.ts';
import { type IntegrationRole, isIntegrationRole } from '../../domain/people/role.ts';
import {
  changeIntegration as changeStored,
  countActiveIntegrations,
  findActivePerson,
  type IntegrationChange,
  insertIntegration,
} from '../../store/integrations/integrations.ts';
import type { LockedIntegration } from '../../store/people/users.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { isUniqueViolation } from '../../store/sql/database-errors.ts';
import { changesBetween } from '../audit/audit-log.ts';
import { type LockedForChange, lockForChange, lockForCreation } from '../authority/integrations.ts';
import { requireRight } from '../authority/rights.ts';
import {
  ALREADY_SENT,
  type AlreadySent,
  type Conflict,
  claimForm,
  conflict,
  DONE,
  type Done,
  type Invalid,
  invalid,
  joinInvalid,
  type OneTimeForm,
  parseEach,
  recordAct,
  runAction,
} from '../outcome.ts';
import { MAX_ACTIVE_INTEGRATIONS } from './integrations.ts';

/** The fields of a form about an integration, as they were typed. */
export type IntegrationRequest = {
  readonly name: string;
  readonly description: string;
  /** "member" or "viewer". */
  readonly role: string;
  /** The e-mail of an active user of the organization. */
  readonly owner: string;
  /** An e-mail address, or empty. */
  readonly noticeEmail: string;
};

export const MAX_DESCRIPTION_CHARACTERS = 1000;

export type IntegrationCreated = { readonly kind: 'created'; readonly id: string };

/**
 * Creates an integration. Returns "conflict" if the organization has too many active integrations, or another integration has the
 * same name.
 */
export async function createIntegration(
  db: Database,
  actor: ActorOrOperator,
  { formId, ...request }: IntegrationRequest & OneTimeForm,
): Promise<IntegrationCreated | Invalid | Conflict | AlreadySent> {
  const content = await readRequest(db, actor, request);
  if (content.kind === 'invalid') return content;
  const { owner: ownerEmail, ...values } = content.value;
  return withUniqueName(values.name, () =>
    runAction(db, async (tx) => {
      if (!(await claimForm(tx, actor.scope, { formId }))) return ALREADY_SENT;
      const { owner } = await lockForCreation(tx, actor, { ownerEmail });
      if (owner === null) return wrongOwner('owner');
      if ((await countActiveIntegrations(tx, actor.scope)) >= MAX_ACTIVE_INTEGRATIONS) return tooManyIntegrations();
      const id = newId();
      await insertIntegration(tx, actor.scope, { ...values, id, ownerUserId: owner.id });
      await recordAct(tx, actor, {
        action: 'integration.created',
        targetUserId: id,
        detail: { role: values.role, owner: owner.email },
      });
      return { kind: 'created', id };
    }),
  );
}

/** Changes an integration. If the role changes, the keys have the permissions of the new role from their next request on. */
export async function changeIntegration(
  db: Database,
  actor: Actor,
  { id, ...request }: IntegrationRequest & { readonly id: string },
): Promise<Done | Invalid | Conflict> {
  const content = await readRequest(db, actor, request);
  if (content.kind === 'invalid') return content;
  const { owner: ownerEmail, ...values } = content.value;
  return withUniqueName(values.name, () =>
    runAction(db, async (tx) => {
      const { owner, integration } = await lockForChange(tx, actor, { id, ownerEmail });
      if (owner === null) return wrongOwner('owner');
      const changes = changesBetween(settingsOf(integration), settingsOf(values));
      const hasNewOwner = owner.id !== integration.ownerUserId;
      if (Object.keys(changes).length > 0 || hasNewOwner)
        await changeStored(tx, actor.scope, integration.id, { ...values, ownerUserId: owner.id });
      const targetUserId = integration.id;
      if (Object.keys(changes).length > 0)
        await recordAct(tx, actor, { action: 'integration.changed', targetUserId, detail: changes });
      if (hasNewOwner)
        await recordAct(tx, actor, { action: 'integration.owner_changed', targetUserId, detail: { to: owner.email } });
      return DONE;
    }),
  );
}

/** Returns the same refusal for a user who does not exist, a deactivated user and a user of another organization. */
export function wrongOwner(field: string): Invalid {
  return invalid(field, 'must be the e-mail of an active user of your organization.');
}

async function withUniqueName<T>(name: string, action: () => Promise<T>): Promise<T | Conflict> {
  try {
    return await action();
  } catch (error) {
    if (!isUniqueViolation(error)) throw error;
    return conflict(`Your organization has an integration named ${JSON.stringify(name)} already. Choose another name.`);
  }
}

type Parsed = {
  readonly name: string;
  readonly description: string;
  readonly role: IntegrationRole;
  readonly owner: string;
  readonly noticeEmail: string;
};

async function readRequest(
  db: Database,
  actor: ActorOrOperator,
  request: IntegrationRequest,
): Promise<{ readonly kind: 'valid'; readonly value: Parsed } | Invalid> {
  const parsed = parseEach<Parsed>({
    name: () => parseName(request.name, { kind: 'integration' }),
    description: () =>
      parseText(request.description, { field: 'description', maxCharacters: MAX_DESCRIPTION_CHARACTERS }),
    role: () => parseIntegrationRole(request.role),
    owner: () => parseEmail(request.owner, 'owner'),
    noticeEmail: () => (request.noticeEmail.trim() === '' ? '' : parseEmail(request.noticeEmail, 'notice_email')),
  });
  if (parsed.kind === 'valid' || parsed.fields['owner'] !== undefined) return parsed;
  return joinInvalid([parsed, await checkOwner(db, actor, parseEmail(request.owner, 'owner'))]);
}

/**
 * Checks the owner of a form that has other mistakes, so that the page shows all mistakes together. The action itself looks the
 * owner up again.
 */
async function checkOwner(db: Database, actor: ActorOrOperator, email: string): Promise<Invalid | null> {
  if (!isOperator(actor)) requireRight(actor, 'manage integrations');
  return (await findActivePerson(db.prisma, actor.scope, email)) === null ? wrongOwner('owner') : null;
}

function parseIntegrationRole(text: string): IntegrationRole {
  if (!isIntegrationRole(text)) throw invalidField('role', 'must be member or viewer.');
  return text;
}

/** Returns the settings of an integration under the names that the audit log uses. */
function settingsOf({ name, role, description, noticeEmail }: LockedIntegration | Omit<Parsed, 'owner'>) {
  return { name, role, description, 'mail address': noticeEmail };
}

/** Suspends an integration, so that its keys are refused from their next request on until the integration is reactivated. */
export async function suspendIntegration(
  db: Database,
  actor: Actor,
  { id, now = new Date() }: { id: string; now?: Date },
): Promise<Done | Conflict> {
  return actOn(db, actor, id, async (_, { integration }) => {
    if (integration.deactivatedAt !== null) return conflict(`${integration.name} is suspended already.`);
    return { kind: 'act', action: 'integration.suspended', values: { deactivatedAt: now } };
  });
}

export async function reactivateIntegration(
  db: Database,
  actor: Actor,
  { id }: { id: string },
): Promise<Done | Conflict> {
  return actOn(db, actor, id, async (tx, { integration }) => {
    if (integration.deactivatedAt === null) return conflict(`${integration.name} is active.`);
    if ((await countActiveIntegrations(tx, actor.scope)) >= MAX_ACTIVE_INTEGRATIONS) return tooManyIntegrations();
    return { kind: 'act', action: 'integration.reactivated', values: { deactivatedAt: null } };
  });
}

/** Makes the actor the owner of an integration. Calling it again changes nothing. */
export async function takeOwnership(db: Database, actor: Actor, { id }: { id: string }): Promise<Done | Conflict> {
  return actOn(db, actor, id, async (_, { current, integration }) => {
    if (integration.ownerUserId === current.id) return DONE;
    const detail = { to: current.email };
    return { kind: 'act', action: 'integration.owner_changed', values: { ownerUserId: current.id }, detail };
  });
}

function tooManyIntegrations(): Conflict {
  return conflict(
    `Your organization has ${MAX_ACTIVE_INTEGRATIONS} active integrations, the maximum. Suspend one that is not needed any more first.`,
  );
}

type Action = {
  readonly kind: 'act';
  readonly action: 'integration.suspended' | 'integration.reactivated' | 'integration.owner_changed';
  readonly values: IntegrationChange;
  readonly detail?: Readonly<Record<string, string>>;
};

/** Locks the integration, does what `decide` returns, and records the action in the audit log. */
async function actOn(
  db: Database,
  actor: Actor,
  id: string,
  decide: (tx: Transaction, locked: LockedForChange) => Promise<Action | Done | Conflict>,
): Promise<Done | Conflict> {
  return runAction(db, async (tx) => {
    const locked = await lockForChange(tx, actor, { id });
    const decision = await decide(tx, locked);
    if (decision.kind !== 'act') return decision;
    const { action, values, detail } = decision;
    await changeStored(tx, actor.scope, locked.integration.id, values);
    await recordAct(tx, actor, {
      action,
      targetUserId: locked.integration.id,
      ...(detail !== undefined && { detail }),
    });
    return DONE;
  });
}
