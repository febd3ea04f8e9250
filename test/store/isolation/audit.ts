import { recordAudit } from '../../../src/store/audit.ts';
import { listAuditEvents } from '../../../src/store/audit-log.ts';
import type { Proofs } from './proof.ts';

export const auditProofs: Proofs = {
  // The attack: an event of our organization in their log, through the id of one of their users.
  async recordAudit({ db, ours, theirs }) {
    const event = { action: 'user.signed_out', actorUserId: theirs.userId, targetUserId: theirs.userId } as const;
    await recordAudit(db.prisma, ours.scope, { ...event, auditSource: null });
    const all = { after: null, limit: 10 };
    expect(await listAuditEvents(db, theirs.scope, all)).toEqual([]);
    expect(await listAuditEvents(db, ours.scope, all)).toMatchObject([{ action: event.action }]);
  },
};
