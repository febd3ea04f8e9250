import { v7 as newId } from 'uuid';
import type { Database } from '../../../src/store/database.ts';
import { FEED_START } from '../../../src/store/event-position.ts';
import { findEvent, listEvents } from '../../../src/store/events.ts';
import type { Tenant } from '../../support/postgres/store.ts';
import type { Proofs } from './proof.ts';

/** The id of the event of a new parent program. */
async function change({ prisma }: Database, { scope: { organizationId } }: Tenant): Promise<string> {
  const { id } = await prisma.parentProgram.create({ data: { organizationId, id: newId(), name: 'Nordic' } });
  const events = await prisma.event.findMany({ where: { organizationId } });
  return events.find(({ data }) => JSON.stringify(data).includes(id))?.id ?? '';
}

export const eventProofs: Proofs = {
  async listEvents({ db, ours, theirs }) {
    const before = await change(db, theirs);
    const own = await change(db, ours);
    await change(db, theirs);
    for (const type of [undefined, 'parent_program.created']) {
      // The attack: a position among another organization's events.
      for (const after of [FEED_START, before]) {
        const { events } = await listEvents(db, ours.scope, { after, type, limit: 100 });
        expect(events.map(({ id }) => id)).toEqual([own]);
      }
    }
  },

  async findEvent({ db, ours, theirs }) {
    const [own, foreign] = [await change(db, ours), await change(db, theirs)];
    expect(await findEvent(db, ours.scope, own)).not.toBeNull();
    expect(await findEvent(db, ours.scope, foreign)).toBeNull();
  },
};
