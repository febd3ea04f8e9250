import { randomBytes } from 'node:crypto';
import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import { placeOfWebhookSecret } from '../../../src/store/secrets.ts';
import {
  changeWebhookEndpoint,
  countWebhookEndpoints,
  deleteDeliveriesOf,
  deleteWebhookEndpoint,
  disableWebhookEndpoint,
  findWebhookEndpoint,
  insertWebhookEndpoint,
  listWebhookEndpoints,
  lockWebhookEndpoint,
} from '../../../src/store/webhook-endpoints.ts';
import {
  countTestDeliveries,
  findWebhookDelivery,
  insertTestDelivery,
  listWebhookDeliveries,
  lockWebhookDelivery,
  resendWebhookDelivery,
} from '../../../src/store/webhook-history.ts';
import { countDay, writeAttempts, writeEvent } from '../../support/data/webhooks.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

const AT = new Date('2026-05-04T12:00:00.000Z');

/** Adds an endpoint with a failed delivery. Its id may be that of an endpoint of another organization. */
async function addDelivered(db: Database, { scope, userId }: Tenant, id = newId()) {
  const { organizationId } = scope;
  await insertWebhookEndpoint(db.prisma, scope, {
    id,
    url: 'https://example.org/',
    eventTypes: ['parent_program.created'],
    secret: db.keyring.encrypt(randomBytes(32), placeOfWebhookSecret({ organizationId, id })),
    createdByUserId: userId,
    createdAt: AT,
  });
  const messageId = await writeEvent(db, scope);
  await writeAttempts(db, { organizationId, endpointId: id, messageId }, [{ status: 500 }], 'failed');
  await countDay(db, { organizationId, endpointId: id }, { now: AT, failed: 1 });
  return { endpointId: id, messageId };
}

async function rowsOf({ prisma }: Database, { scope: { organizationId } }: Tenant): Promise<string> {
  const where = { organizationId };
  return JSON.stringify([
    await prisma.webhookEndpoint.findMany({ where }),
    await prisma.webhookDelivery.findMany({ where }),
    await prisma.webhookAttempt.findMany({ where }),
  ]);
}

export const webhookEndpointProofs: Proofs = {
  async insertWebhookEndpoint({ db, ours, theirs }) {
    await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    await addDelivered(db, ours);
    expect(await rowsOf(db, theirs)).toBe(before);
    // The attack: a creator of another organization.
    await expect(addDelivered(db, { ...ours, userId: theirs.userId })).rejects.toThrow();
  },

  async countWebhookEndpoints({ db, ours, theirs }) {
    await addDelivered(db, theirs);
    expect(await countWebhookEndpoints(db.prisma, ours.scope)).toBe(0);
  },

  async lockWebhookEndpoint({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    expect(await lockWebhookEndpoint(db.prisma, ours.scope, endpointId)).toBeNull();
    await addDelivered(db, ours, endpointId);
    expect(await lockWebhookEndpoint(db.prisma, ours.scope, endpointId)).toMatchObject({
      createdByUserId: ours.userId,
    });
  },

  async changeWebhookEndpoint({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    const change = { url: 'https://evil.example/' };
    await expect(changeWebhookEndpoint(db.prisma, ours.scope, endpointId, change)).rejects.toThrow();
    await addDelivered(db, ours, endpointId);
    await changeWebhookEndpoint(db.prisma, ours.scope, endpointId, change);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async disableWebhookEndpoint({ db, ours, theirs }) {
    const { endpointId: id } = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    expect(await disableWebhookEndpoint(db.prisma, ours.scope, { id, reason: 'gone', at: AT })).toBeNull();
    await addDelivered(db, ours, id);
    expect(await disableWebhookEndpoint(db.prisma, ours.scope, { id, reason: 'gone', at: AT })).not.toBeNull();
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async deleteDeliveriesOf({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    expect(await deleteDeliveriesOf(db, ours.scope, { endpointId, limit: 10 })).toBe(0);
    await addDelivered(db, ours, endpointId);
    expect(await deleteDeliveriesOf(db, ours.scope, { endpointId, limit: 10 })).toBe(1);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async deleteWebhookEndpoint({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    expect(await deleteWebhookEndpoint(db.prisma, ours.scope, endpointId)).toBeNull();
    await addDelivered(db, ours, endpointId);
    expect(await deleteWebhookEndpoint(db.prisma, ours.scope, endpointId)).not.toBeNull();
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async listWebhookEndpoints({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    expect(await listWebhookEndpoints(db, ours.scope)).toEqual([]);
    await addDelivered(db, ours, endpointId);
    await countDay(db, { organizationId: theirs.scope.organizationId, endpointId }, { now: AT, daysAgo: 1, failed: 9 });
    const [own, ...others] = await listWebhookEndpoints(db, ours.scope);
    expect([own?.days.length, others]).toEqual([1, []]);
  },

  async findWebhookEndpoint({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    expect(await findWebhookEndpoint(db, ours.scope, endpointId)).toBeNull();
    await addDelivered(db, ours, endpointId);
    await db.prisma.webhookDelivery.updateMany({
      where: { organizationId: theirs.scope.organizationId },
      data: { state: 'pending', nextAttemptAt: AT },
    });
    expect(await findWebhookEndpoint(db, ours.scope, endpointId)).toMatchObject({ pending: 0 });
  },
};

export const webhookHistoryProofs: Proofs = {
  async listWebhookDeliveries({ db, ours, theirs }) {
    const { endpointId, messageId } = await addDelivered(db, theirs);
    const query = { endpointId, from: null, limit: 10 };
    expect(await listWebhookDeliveries(db, ours.scope, query)).toEqual([]);
    const own = await addDelivered(db, ours, endpointId);
    const listed = await listWebhookDeliveries(db, ours.scope, query);
    expect(listed.map((each) => each.messageId)).toEqual([own.messageId]);
    expect(listed[0]?.messageId).not.toBe(messageId);
  },

  async findWebhookDelivery({ db, ours, theirs }) {
    const foreign = await addDelivered(db, theirs);
    const own = await addDelivered(db, ours, foreign.endpointId);
    const withBodies = true;
    expect(await findWebhookDelivery(db, ours.scope, { ...foreign, withBodies })).toBeNull();
    expect(await findWebhookDelivery(db, ours.scope, { ...own, withBodies })).toMatchObject({
      messageId: own.messageId,
    });
    // A test delivery of ours with the id of theirs shows neither their event nor their attempts.
    await insertTestDelivery(db.prisma, ours.scope, foreign);
    const found = await findWebhookDelivery(db, ours.scope, { ...foreign, withBodies });
    expect(found).toMatchObject({ eventType: null, log: [] });
  },

  async countTestDeliveries({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    await insertTestDelivery(db.prisma, theirs.scope, { endpointId, messageId: newId() });
    await addDelivered(db, ours, endpointId);
    expect(await countTestDeliveries(db.prisma, ours.scope, { endpointId, since: new Date(0) })).toBe(0);
    await insertTestDelivery(db.prisma, ours.scope, { endpointId, messageId: newId() });
    expect(await countTestDeliveries(db.prisma, ours.scope, { endpointId, since: new Date(0) })).toBe(1);
  },

  async lockWebhookDelivery({ db, ours, theirs }) {
    const foreign = await addDelivered(db, theirs);
    await addDelivered(db, ours, foreign.endpointId);
    expect(await lockWebhookDelivery(db.prisma, ours.scope, foreign)).toBeNull();
  },

  async resendWebhookDelivery({ db, ours, theirs }) {
    const foreign = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    await addDelivered(db, ours, foreign.endpointId);
    await resendWebhookDelivery(db.prisma, ours.scope, foreign);
    expect(await rowsOf(db, theirs)).toBe(before);
  },

  async insertTestDelivery({ db, ours, theirs }) {
    const { endpointId } = await addDelivered(db, theirs);
    const before = await rowsOf(db, theirs);
    await expect(insertTestDelivery(db.prisma, ours.scope, { endpointId, messageId: newId() })).rejects.toThrow();
    expect(await rowsOf(db, theirs)).toBe(before);
  },
};
