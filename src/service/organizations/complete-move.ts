import { DomainError } from '../../domain/errors.ts';
import type { OrganizationScope } from '../../domain/organizations/organization-scope.ts';
import { recordAudit, recordOperatorAction } from '../../store/audit/audit.ts';
import { changeIntegration, findActivePerson, setOwner } from '../../store/integrations/integrations.ts';
import { revokeApiKey } from '../../store/keys/api-keys.ts';
import {
  type CarriedEvent,
  endMove,
  findMove,
  hasComeWith,
  insertRevocations,
  listRevocationsOfMove,
  lockOrganizationAlone,
  setStage,
} from '../../store/organizations/organization-moves.ts';
import { voidAccessLinksOf } from '../../store/people/access-links.ts';
import { endSessionsOf } from '../../store/people/sessions.ts';
import { changeUser, lockHolders } from '../../store/people/users.ts';
import { type Database, type Transaction, transaction } from '../../store/sql/database.ts';
import { isRefusedValue } from '../../store/sql/database-errors.ts';
import { listMigrations, queryIn, removeTimeouts } from '../../store/sql/tenant-tables.ts';
import { tellHolder } from '../keys/notices.ts';
import { REPORTED } from '../keys/report-keys.ts';
import { ARCHIVE_FORMAT, type Archive, ArchiveWriter, DamagedError } from './archive-format.ts';
import { requireSameMove, requireStageOutside, type Sink } from './export-organization.ts';

// These are the last two steps of a move. First, the old database stops accepting revocations. Then the new database repeats the
// revocations that were made since the beginning of the move, and serves the organization. A key that has ended is therefore
// accepted by neither database.

/**
 * Completes the move in the old database, so that this database refuses revocations, too. Passes the revocations since the start
 * of the move to the sink, and returns their number. Calling it again passes the same revocations.
 */
export async function completeMove(
  db: Database,
  scope: OrganizationScope,
  { write, publish }: Sink,
): Promise<{ readonly name: string; readonly revocations: number }> {
  const { name, id: moveId } = await transaction(db, async (tx) => {
    const organization = await lockOrganizationAlone(tx, scope);
    const move = await findMove(tx, scope);
    if (organization === null || move === null) throw new DomainError('conflict', 'The organization does not move.');
    requireStageOutside(move, ['arriving', 'deleting']);
    if (move.stage === 'leaving') {
      await setStage(tx, scope, { id: move.id, stage: 'completed' });
      const about = { id: scope.organizationId, name: organization.name };
      await recordOperatorAction(tx, {
        action: 'organization.move_completed',
        organization: about,
        detail: { move: move.id },
      });
    }
    return { name: organization.name, id: move.id };
  });
  // The file is written after the commit. Otherwise, the organization could be activated elsewhere while revocations continue
  // here.
  return transaction(
    db,
    async (tx) => {
      await removeTimeouts(queryIn(tx));
      const archive = new ArchiveWriter(write);
      await archive.writeHead({
        charter_archive: ARCHIVE_FORMAT,
        kind: 'completion',
        organization: { id: scope.organizationId, name },
        move_id: moveId,
        at: new Date().toISOString(),
        migrations: await listMigrations(queryIn(tx)),
      });
      const rows = await listRevocationsOfMove(tx, scope, moveId);
      await archive.writeRows('audit_events', rows);
      await archive.writeEnd();
      await publish?.();
      return { name, revocations: rows.length };
    },
    { timeoutSeconds: WRITE_SECONDS },
  );
}

const WRITE_SECONDS = 600;

export type Activated = {
  /** The number of revocations that were made in the old database after the export. */
  readonly revocations: number;
  /** Whether this call has activated the organization; `false` if it was activated before. */
  readonly isNew: boolean;
};

/**
 * Activates an organization in the database that has imported it. Repeats the revocations in the completion file, and serves the
 * organization from the commit on.
 */
export async function activateOrganization(
  db: Database,
  scope: OrganizationScope,
  { head: { kind, move_id: moveId, organization }, rows }: Archive,
): Promise<Activated> {
  if (kind !== 'completion' || moveId === null)
    throw new DomainError('invalid', 'This is not the file that complete-move has written in the old installation.');
  const events: string[] = [];
  for await (const { table, row } of rows) {
    if (table !== 'audit_events') throw new DamagedError();
    events.push(row);
  }
  try {
    return await transaction(db, async (tx) => {
      const isHere = (await lockOrganizationAlone(tx, scope)) !== null;
      const move = await findMove(tx, scope);
      requireStageOutside(move, ['deleting']);
      if (!isHere)
        throw new DomainError(
          'conflict',
          `The organization "${organization.name}" was not imported here with this move. Run import-organization first.`,
        );
      if (move === null) {
        if (await hasComeWith(tx, scope, moveId)) return { revocations: 0, isNew: false };
        throw new DomainError(
          'conflict',
          `The organization "${organization.name}" does not move. It is in this database, but has not come with the move of this file, ${moveId}. Nothing was changed.`,
        );
      }
      if (move.stage !== 'arriving')
        throw new DomainError(
          'conflict',
          `The file is that of the move ${moveId}. With the move ${move.id}, the organization leaves this database. Activate it in the other one, with the file that complete-move writes here.`,
        );
      requireSameMove(move, moveId);
      await endMove(tx, scope);
      const inserted = await insertRevocations(tx, scope, events);
      if (inserted === null) throw new DamagedError();
      for (const event of inserted) await carryOut(tx, scope, event);
      const detail = { move: moveId };
      await recordAudit(tx, scope, { action: 'organization.moved', actorUserId: null, detail, auditSource: null });
      await recordOperatorAction(tx, { action: 'organization.moved', organization, detail });
      return { revocations: inserted.length, isNew: true };
    });
  } catch (error) {
    throw isRefusedValue(error) ? new DamagedError() : error;
  }
}

/** Repeats an action of the old database. Does not touch keys and sessions that have already ended here. */
async function carryOut(tx: Transaction, scope: OrganizationScope, event: CarriedEvent): Promise<void> {
  const { action, at, actorUserId: byUserId, targetUserId: userId, keyId, detail } = event;
  if (userId === null) throw new DamagedError();
  switch (action) {
    case 'key.revoked': {
      if (keyId === null) throw new DamagedError();
      const isLeaked = detail['why'] === REPORTED;
      const revoked = await revokeApiKey(tx, scope, { id: keyId, userId, at, byUserId, isLeaked });
      const holder = (await lockHolders(tx, scope, [userId])).get(userId);
      // Only revocations by people lead to notices. This database sends the notice, because the old one sends none during the
      // move.
      if (revoked !== null && holder !== undefined && detail['why'] === undefined)
        await tellHolder(tx, scope, { holder, keyId, kind: 'revoked', byUserId });
      return;
    }
    case 'user.deactivated':
      await changeUser(tx, scope, userId, { deactivatedAt: at });
      await endSessionsOf(tx, scope, userId);
      await voidAccessLinksOf(tx, scope, userId);
      return;
    case 'integration.suspended':
      await changeIntegration(tx, scope, userId, { deactivatedAt: at });
      return;
    case 'integration.owner_changed': {
      const ownerUserId = await findActivePerson(tx, scope, detail['to'] ?? '');
      if (ownerUserId !== null) await setOwner(tx, scope, { ids: [userId], ownerUserId });
      return;
    }
    case 'user.signed_out':
    case 'user.session_ended':
    case 'user.signed_out_everywhere':
      // The event does not say which session was ended, so all sessions of the user are ended.
      await endSessionsOf(tx, scope, userId);
      return;
  }
}
