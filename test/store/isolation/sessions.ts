import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import { insertAccessLink, useAccessLink, voidAccessLinksOf } from '../../../src/store/access-links.ts';
import { countAuditEvents, listAuditEvents } from '../../../src/store/audit-log.ts';
import type { Database } from '../../../src/store/database.ts';
import {
  endOtherSessionsOf,
  endSession,
  endSessionById,
  endSessionsByWay,
  endSessionsOf,
  endSsoSessionsOf,
  findUsersBySid,
  hasSession,
  hasSsoSession,
  insertSession,
  listSessionsOf,
  recordProof,
  replaceSessionToken,
  touchSession,
} from '../../../src/store/sessions.ts';
import { findAccessLinkByHash, findSessionByHash } from '../../../src/store/unscoped/people.ts';
import { newAuditSource } from '../../support/data/accounts.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');
const LATER = new Date('2026-05-04T13:00:00.000Z');

async function openSession({ prisma }: Database, { scope, userId }: Tenant): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  const session = { userId, tokenHash, isComplete: true, at: AT, provedAt: AT, auditSource: newAuditSource() };
  await insertSession(prisma, scope, session);
  return tokenHash;
}

async function openSsoSession({ prisma }: Database, { scope, userId }: Tenant, ssoSid = 'sid'): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  const session = { userId, tokenHash, isComplete: true, at: AT, provedAt: AT, auditSource: newAuditSource() };
  await insertSession(prisma, scope, { ...session, ssoSid });
  return tokenHash;
}

async function openLink({ prisma }: Database, { scope, userId }: Tenant): Promise<Buffer> {
  const tokenHash = randomBytes(32);
  const times = { createdAt: AT, expiresAt: LATER };
  await insertAccessLink(prisma, scope, { userId, tokenHash, kind: 'invitation', madeByUserId: null, ...times });
  return tokenHash;
}

export const sessionProofs: Proofs = {
  // The attack: a session of one's own organization for a user of another one.
  async insertSession({ db, ours, theirs }) {
    const session = {
      userId: theirs.userId,
      tokenHash: randomBytes(32),
      isComplete: true,
      at: AT,
      provedAt: AT,
      auditSource: newAuditSource(),
    };
    await expect(insertSession(db.prisma, ours.scope, session)).rejects.toMatchObject({ code: 'P2003' });
  },

  async endSession({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    expect(await endSession(db.prisma, ours.scope, tokenHash)).toBe(false);
    expect(await findSessionByHash(db, tokenHash)).not.toBeNull();
  },

  async hasSession({ db, ours, theirs }) {
    const session = { userId: theirs.userId, tokenHash: await openSession(db, theirs) };
    expect(await hasSession(db.prisma, ours.scope, session)).toBe(false);
    expect(await hasSession(db.prisma, theirs.scope, session)).toBe(true);
  },

  async recordProof({ db, ours, theirs }) {
    const session = { userId: theirs.userId, tokenHash: await openSession(db, theirs), at: LATER };
    expect(await recordProof(db.prisma, ours.scope, session)).toBe(false);
    expect(await findSessionByHash(db, session.tokenHash)).toMatchObject({ provedAt: AT });
  },

  async replaceSessionToken({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    const newTokenHash = randomBytes(32);
    expect(await replaceSessionToken(db.prisma, ours.scope, { tokenHash, newTokenHash })).toBe(false);
    expect(await findSessionByHash(db, newTokenHash)).toBeNull();
  },

  async endSessionsOf({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    await endSessionsOf(db.prisma, ours.scope, theirs.userId);
    expect(await findSessionByHash(db, tokenHash)).not.toBeNull();
  },

  async listSessionsOf({ db, ours, theirs }) {
    const query = { userId: theirs.userId, tokenHash: await openSession(db, theirs), now: AT, limit: 10 };
    expect(await listSessionsOf(db, ours.scope, query)).toEqual([]);
    expect(await listSessionsOf(db, theirs.scope, query)).toMatchObject([{ isCurrent: true }]);
  },

  async hasSsoSession({ db, ours, theirs }) {
    const session = { userId: theirs.userId, tokenHash: await openSsoSession(db, theirs) };
    expect(await hasSsoSession(db.prisma, ours.scope, session)).toBe(false);
    expect(await hasSsoSession(db.prisma, theirs.scope, session)).toBe(true);
    const byPassword = { userId: theirs.userId, tokenHash: await openSession(db, theirs) };
    expect(await hasSsoSession(db.prisma, theirs.scope, byPassword)).toBe(false);
  },

  async endSsoSessionsOf({ db, ours, theirs }) {
    const tokenHash = await openSsoSession(db, theirs);
    expect(await endSsoSessionsOf(db.prisma, ours.scope, { userId: theirs.userId })).toBe(0);
    expect(await findSessionByHash(db, tokenHash)).not.toBeNull();
  },

  async findUsersBySid({ db, ours, theirs }) {
    await openSsoSession(db, theirs, 'their sid');
    expect(await findUsersBySid(db.prisma, ours.scope, 'their sid')).toEqual([]);
    expect(await findUsersBySid(db.prisma, theirs.scope, 'their sid')).toEqual([theirs.userId]);
  },

  async endSessionsByWay({ db, ours, theirs }) {
    const hashes = [await openSsoSession(db, theirs), await openSession(db, theirs)];
    for (const way of ['single sign-on', 'password'] as const) await endSessionsByWay(db.prisma, ours.scope, way);
    for (const hash of hashes) expect(await findSessionByHash(db, hash)).not.toBeNull();
  },

  async endSessionById({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    const { id } = await db.prisma.session.findUniqueOrThrow({ where: { tokenHash: Uint8Array.from(tokenHash) } });
    expect(await endSessionById(db.prisma, ours.scope, { userId: theirs.userId, id })).toBeNull();
    expect(await findSessionByHash(db, tokenHash)).not.toBeNull();
  },

  async endOtherSessionsOf({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    const other = { userId: theirs.userId, tokenHash: randomBytes(32) };
    expect(await endOtherSessionsOf(db.prisma, ours.scope, other)).toBe(0);
    expect(await findSessionByHash(db, tokenHash)).not.toBeNull();
  },

  async touchSession({ db, ours, theirs }) {
    const tokenHash = await openSession(db, theirs);
    await touchSession(db, ours.scope, { tokenHash, at: LATER, auditSource: newAuditSource() });
    expect(await findSessionByHash(db, tokenHash)).toMatchObject({ lastSeenAt: AT });
  },
};

export const accessLinkProofs: Proofs = {
  // The attack: a link of one's own organization that sets the password of a user of another one.
  async insertAccessLink({ db, ours, theirs }) {
    await expect(openLink(db, { ...theirs, scope: ours.scope })).rejects.toMatchObject({ code: 'P2003' });
  },

  async useAccessLink({ db, ours, theirs }) {
    const tokenHash = await openLink(db, theirs);
    expect(await useAccessLink(db.prisma, ours.scope, { tokenHash, at: AT })).toBe(false);
    expect(await findAccessLinkByHash(db, tokenHash)).toMatchObject({ usedAt: null });
  },

  async voidAccessLinksOf({ db, ours, theirs }) {
    const tokenHash = await openLink(db, theirs);
    await voidAccessLinksOf(db.prisma, ours.scope, theirs.userId);
    expect(await findAccessLinkByHash(db, tokenHash)).not.toBeNull();
  },
};

export const auditLogProofs: Proofs = {
  async countAuditEvents({ db, ours, theirs }) {
    const { organizationId } = theirs.scope;
    await db.prisma.auditEvent.create({
      data: { organizationId, id: newId(), action: 'test', actorUserId: ours.userId },
    });
    expect(await countAuditEvents(db, ours.scope, { most: 10 })).toBe(0);
    expect(await countAuditEvents(db, ours.scope, { userIds: [ours.userId, theirs.userId], most: 10 })).toBe(0);
    expect(await countAuditEvents(db, theirs.scope, { most: 10 })).toBe(1);
  },
  async listAuditEvents({ db, ours, theirs }) {
    // Each row refers to the other organization's user, whose name must not appear.
    for (const [{ scope }, { userId }] of [
      [ours, theirs],
      [theirs, ours],
    ] as const) {
      const { organizationId } = scope;
      await db.prisma.auditEvent.create({ data: { organizationId, id: newId(), action: 'test', actorUserId: userId } });
    }
    const all = { after: null, limit: 10 };
    expect(await listAuditEvents(db, ours.scope, all)).toMatchObject([{ actorId: theirs.userId, actorName: null }]);
    expect(await listAuditEvents(db, ours.scope, { ...all, userIds: [ours.userId] })).toEqual([]);
  },
};
