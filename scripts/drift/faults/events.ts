import type { Fault } from '../fault.ts';

/** Events, webhooks and the client that integrators use. */
export const EVENT_FAULTS: readonly Fault[] = [
  {
    title: 'the ids of events are in the order of their creation, not of the commits',
    file: 'prisma/migrations/20261125000000_events_of_a_table/migration.sql',
    find: '"event_id"(o."version", row_number() OVER ())',
    replace: '"event_id"((extract(epoch FROM now()) * 1000000)::bigint, row_number() OVER ())',
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'a deletion has no event',
    file: 'prisma/migrations/20261125000000_events_of_a_table/migration.sql',
    find: `format('SELECT %L AS "type_of_event", b.* FROM "before" b'`,
    replace: `format('SELECT %L AS "type_of_event", b.* FROM "before" b WHERE false'`,
    caughtBy: 'test/store/events.test.ts',
  },
  {
    title: 'the cursor of the last page is that of its last event',
    file: 'src/service/resources/events.ts',
    find: 'last?.id ?? (start !== null && start > end ? start : end)',
    replace: 'last?.id ?? shown.at(-1)?.id ?? query.after',
    caughtBy: 'test/api/feed.test.ts',
  },
  {
    title: 'a cursor skips deleted events without a word',
    file: 'src/service/resources/events.ts',
    find: "  if (start !== null && deletedTo !== null && start < deletedTo) throw tooOld(after === null ? 'since' : 'cursor');\n",
    replace:
      "  if (start !== null && deletedTo !== null && start < '') throw tooOld(after === null ? 'since' : 'cursor');\n",
    caughtBy: 'test/api/feed.test.ts',
  },
  {
    title: 'the signature of a webhook does not cover the time',
    file: 'src/domain/webhook-signature.ts',
    find: 'update(`${id}.${timestamp}.${body}`)',
    replace: 'update(`${id}.${body}`)',
    caughtBy: 'test/delivery/deliveries.test.ts',
  },
  {
    title: 'webhooks may be sent to the metadata of a cloud',
    file: 'src/domain/forbidden-address.ts',
    find: "'169.254.0.0/16', //",
    replace: "'169.254.0.0/17', //",
    caughtBy: 'test/domain/forbidden-address.test.ts',
  },
  {
    title: 'the addresses of a name are not checked when a connection is made',
    file: 'src/delivery/sender.ts',
    find: '          .filter((address) => !isForbidden(address))\n',
    replace: '',
    caughtBy: 'test/delivery/sender.test.ts',
  },
  {
    title: 'a claimed delivery has no lease',
    file: 'src/store/webhook-deliveries.ts',
    find: "set next_attempt_at = now() + $4 * interval '1 second', attempts",
    replace: "set next_attempt_at = now() + $4 * interval '0 second', attempts",
    caughtBy: 'test/store/webhook-deliveries.test.ts',
  },
  {
    title: 'a result that is written again counts again',
    file: 'src/store/webhook-results.ts',
    find: 'using (organization_id, endpoint_id, message_id, number)),',
    replace: 'on true),',
    caughtBy: 'test/store/webhook-deliveries.test.ts',
  },
  {
    title: 'the results of attempts are lost while the database is away',
    file: 'src/delivery/deliveries.ts',
    find: 'if (isOutage(error)) throw error;\n        if (results',
    replace: 'if (results',
    caughtBy: 'test/delivery/deliveries.test.ts',
  },
  {
    title: 'the client retries an unconditional PATCH',
    file: 'src/client/retrying.ts',
    find: "return (headers.get('If-Match') ?? '*').trim() !== '*';",
    replace: "return (headers.get('If-Match') ?? 'none').trim() !== '*';",
    caughtBy: 'test/client/retries.test.ts',
  },
  {
    title: 'the client follows a redirect with the key',
    file: 'src/client/attempt.ts',
    find: "redirect: 'manual'",
    replace: "redirect: 'follow'",
    caughtBy: 'test/client/secrecy.test.ts',
  },
  {
    title: 'a repeated run of batches is a new one',
    file: 'src/client/batching.ts',
    find: "{ 'Idempotency-Key': `${run}-${number}` }",
    replace: "{ 'Idempotency-Key': `${run}-${number}-${randomKey()}` }",
    caughtBy: 'test/client/batch.test.ts',
  },
  {
    title: 'parseEvent accepts any signature of the right length',
    file: 'src/client/webhook-signature.ts',
    find: 'difference |= given.charCodeAt(i) ^ right',
    replace: 'difference |= right.charCodeAt(i) ^ right',
    caughtBy: 'test/client/webhooks.test.ts',
  },
];
