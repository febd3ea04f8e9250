import type { Actor } from '../../domain/audit/actor.ts';
import { recordAudit } from '../../store/audit/audit.ts';
import {
  changeIntegration,
  countActiveIntegrations,
  type IntegrationChange,
} from '../../store/integrations/integrations.ts';
import type { Database, Transaction } from '../../store/sql/database.ts';
import { type LockedForChange, lockForChange } from '../authority/integrations.ts';
import { type Conflict, conflict, DONE, type Done, runAction } from '../outcome.ts';
import { MAX_ACTIVE_INTEGRATIONS } from './integrations.ts';

/** Its keys are refused from their next request on, until it is reactivated. */
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

/** Its keys that have not ended are accepted again. */
export async function reactivateIntegration(
  db: Database,
  actor: Actor,
  { id }: { id: string },
): Promise<Done | Conflict> {
  return actOn(db, actor, id, async (tx, { integration }) => {
    if (integration.deactivatedAt === null) return conflict(`${integration.name} is active.`);
    if ((await countActiveIntegrations(tx, actor.scope)) >= MAX_ACTIVE_INTEGRATIONS) return tooMany();
    return { kind: 'act', action: 'integration.reactivated', values: { deactivatedAt: null } };
  });
}

/** Makes the actor the owner. A repetition changes nothing. */
export async function takeOwnership(db: Database, actor: Actor, { id }: { id: string }): Promise<Done | Conflict> {
  return actOn(db, actor, id, async (_, { current, integration }) => {
    if (integration.ownerUserId === current.id) return DONE;
    const detail = { to: current.email };
    return { kind: 'act', action: 'integration.owner_changed', values: { ownerUserId: current.id }, detail };
  });
}

export function tooMany(): Conflict {
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

/** Takes the action that `decide` chooses for the locked integration, with its audit event. */
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
    await changeIntegration(tx, actor.scope, locked.integration.id, values);
    await recordAudit(tx, actor.scope, {
      action,
      actorUserId: locked.current.id,
      targetUserId: locked.integration.id,
      ...(detail !== undefined && { detail }),
      auditSource: actor.auditSource,
    });
    return DONE;
  });
}
