import type { components } from '../../../generated/openapi.d.ts';
import { EVENT_TYPES } from '../../domain/resources/events.ts';
import { parseInstant } from '../../domain/resources/instant.ts';
import * as service from '../../service/resources/events.ts';
import { cursorKeyOf } from '../../service/resources/pages.ts';
import { differencesOfFeed, listOf, nextPageUrlOf, openCursor, sealCursor } from '../list-page.ts';
import type { Handler } from '../operation.ts';
import { JsonText } from '../response.ts';

const PATH = '/api/events';

export const listEvents: Handler<'listEvents'> = async ({ query, caller }, { db }) => {
  // After the first page, `since` no longer matters, because the position says where the next page starts.
  const { since, ...followed } = query;
  const { limit, cursor, ...filters } = followed;
  const seal = { key: cursorKeyOf(db, caller), list: listOf(PATH, filters) };
  const listed = {
    path: PATH,
    query: filters,
    ...differencesOfFeed(EVENT_TYPES),
    earlierList: listOf(PATH, { ...filters, since }),
  };
  const page = await service.readFeed(db, caller, {
    after: cursor === undefined ? null : openCursor(seal, cursor, listed),
    since: since === undefined ? undefined : parseInstant(since),
    type: filters.type,
    limit,
  });
  const next = sealCursor(seal, page.position);
  const shown: components['schemas']['FeedPage'] = { limit, next_cursor: next, has_more: page.hasMore };
  const events = page.events.map(({ json }, i) => (i === 0 ? json : `,${json}`));
  return {
    status: 200,
    headers: page.hasMore ? { Link: `<${nextPageUrlOf(PATH, followed, next)}>; rel="next"` } : {},
    body: new JsonText('{"data":[', ...events, '],"page":', JSON.stringify(shown), '}'),
    version: page.version,
  };
};

export const getEvent: Handler<'getEvent'> = async ({ path, caller }, { db }) => {
  const { json, version } = await service.getEvent(db, caller, path.id);
  return { status: 200, headers: {}, body: new JsonText(json), version };
};
