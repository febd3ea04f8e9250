// Reads the event feed as an integration does, and applies the events to a copy.
import type { components } from '../../../generated/openapi.d.ts';
import type { Client } from '../clients/client.ts';

export type Program = components['schemas']['ParentProgram'];
/** An event of a parent program. Events of other resources have other data. */
export type FeedEvent = Omit<components['schemas']['Event'], 'data'> & { readonly data: Program };

/** Returns all events after the cursor, or all events without a cursor, and the cursor of the last page. */
export async function readFeed(
  client: Client,
  { cursor, query = '' }: { cursor?: string | undefined; query?: string } = {},
): Promise<{ events: FeedEvent[]; cursor: string }> {
  const events: FeedEvent[] = [];
  for (let next = cursor; ; ) {
    const { status, text, body } = await client.get(feedUrl(next, query));
    if (status !== 200) throw new Error(`The feed responded with ${status}: ${text}`);
    events.push(...body.data);
    next = body.page.next_cursor;
    if (!body.page.has_more) return { events, cursor: body.page.next_cursor };
  }
}

export function feedUrl(cursor: string | undefined, query = ''): string {
  const parameters = [query, cursor === undefined ? '' : `cursor=${cursor}`].filter((each) => each !== '');
  return `/api/events${parameters.length === 0 ? '' : `?${parameters.join('&')}`}`;
}

/** Returns the copy with the events applied. Throws if an event is impossible after the earlier events. */
export function applyEvents(events: readonly FeedEvent[], copy: ReadonlyMap<string, Program> = new Map()) {
  const programs = new Map(copy);
  for (const { id, type, data } of events) {
    const isKnown = programs.has(data.id);
    if (isKnown === (type === 'parent_program.created')) throw new Error(`${id}: ${type} is impossible here.`);
    if (type === 'parent_program.deleted') programs.delete(data.id);
    else programs.set(data.id, data);
  }
  return programs;
}
