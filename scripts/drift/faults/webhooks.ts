import type { Fault } from '../fault.ts';

const ADDRESS = 'src/domain/forbidden-address.ts';
const SENDER = 'src/delivery/sender.ts';
const SENDER_TESTS = 'test/delivery/sender.test.ts';
const DELIVERIES = 'src/delivery/deliveries.ts';
const DELIVERY_TESTS = 'test/delivery/deliveries.test.ts';
const STORE = 'src/store/webhook-deliveries.ts';
const STORE_TESTS = 'test/store/webhook-deliveries.test.ts';
const TRIGGER = 'prisma/migrations/20261123070100_deliveries_of_events/migration.sql';

/** Faults in the delivery of webhooks. None of them makes a test connect to another machine. */
export const WEBHOOK_FAULTS: readonly Fault[] = [
  {
    title: 'the signature of a webhook does not cover the time',
    edits: [
      {
        file: 'src/domain/webhook-signature.ts',
        find: 'update(`${id}.${timestamp}.${body}`)',
        replace: 'update(`${id}.${body}`)',
      },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'during a rotation, only the new secret signs a webhook',
    edits: [
      {
        file: DELIVERIES,
        find: 'if (previousSecret === null) return [current];',
        replace: 'if (previousSecret === null || current.length > 0) return [current];',
      },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'the previous secret of a webhook endpoint signs for ever',
    edits: [
      {
        file: STORE,
        find: 'case when w.previous_secret_until > now() then w.previous_secret end as previous_secret',
        replace: 'w.previous_secret',
      },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'webhooks may be sent to an IPv6 address that contains an IPv4 address',
    edits: [{ file: ADDRESS, find: "  '2002::/16', // 6to4\n", replace: '' }],
    caughtBy: 'test/domain/forbidden-address.test.ts',
  },
  {
    title: 'webhooks may be sent to the metadata of a cloud',
    edits: [{ file: ADDRESS, find: "'169.254.0.0/16', //", replace: "'169.254.0.0/17', //" }],
    caughtBy: 'test/domain/forbidden-address.test.ts',
  },
  {
    title: 'an IP address in the URL of a webhook is not checked',
    edits: [{ file: SENDER, find: 'if (isIP(host) !== 0 && isForbidden(host))', replace: 'if (isIP(host) < 0)' }],
    caughtBy: SENDER_TESTS,
  },
  {
    title: 'the addresses of a name are not checked when a connection is made',
    edits: [{ file: SENDER, find: '          .filter((address) => !isForbidden(address))\n', replace: '' }],
    caughtBy: SENDER_TESTS,
  },
  {
    title: 'the whole body of a response to a webhook is read',
    edits: [
      { file: SENDER, find: "      if (this.#bytes > MAX_RECEIVER_BODY_BYTES) this.#endWith('');\n", replace: '' },
    ],
    caughtBy: SENDER_TESTS,
  },
  {
    title: 'a redirect is a success',
    edits: [
      {
        file: DELIVERIES,
        find: 'status !== null && status >= 200 && status < 300',
        replace: 'status !== null && status >= 200 && status < 400',
      },
      { file: STORE, find: 'status between 200 and 299', replace: 'status between 200 and 399' },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'the third wait of a webhook is missing',
    edits: [{ file: 'src/delivery/schedule.ts', find: '30 * MINUTE, ', replace: '' }],
    caughtBy: 'test/delivery/schedule.test.ts',
  },
  {
    title: 'a claimed delivery has no lease',
    edits: [
      {
        file: STORE,
        find: "set next_attempt_at = now() + $4 * interval '1 second', attempts",
        replace: "set next_attempt_at = now() + $4 * interval '0 second', attempts",
      },
    ],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'two processes wait for each other when they claim deliveries',
    edits: [{ file: STORE, find: 'for no key update skip locked) d),', replace: 'for no key update) d),' }],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'a disabled endpoint gets the deliveries that wait',
    edits: [
      { file: STORE, find: ' and w.disabled_at is null\n      cross join', replace: '\n      cross join' },
      { file: STORE, find: 'w.disabled_at is null and o.suspended_at', replace: 'o.suspended_at' },
    ],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'a suspended organization gets the deliveries of endpoints that were listed before',
    edits: [
      {
        file: STORE,
        find: 'on o.id = claim.organization_id and o.suspended_at is null',
        replace: 'on o.id = claim.organization_id',
      },
    ],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'a name server that refuses the connection looks like a receiver that does',
    edits: [
      {
        file: 'src/delivery/failure.ts',
        find: "isOfDns && code === 'ECONNREFUSED' ? DNS_FAILED : WORDS[code]",
        replace: 'WORDS[code]',
      },
    ],
    caughtBy: SENDER_TESTS,
  },
  {
    title: 'events can be kept for a shorter time than the attempts of a webhook take',
    edits: [
      { file: 'src/config.ts', find: '      min: 2,\n      max: 365,', replace: '      min: 1,\n      max: 365,' },
    ],
    caughtBy: 'test/delivery/schedule.test.ts',
  },
  {
    title: 'an endpoint gets the events of every organization',
    edits: [{ file: TRIGGER, find: 'ON w."organization_id" = e."organization_id"', replace: 'ON true' }],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'a result that is written again counts again',
    edits: [{ file: STORE, find: 'using (organization_id, endpoint_id, message_id, number)),', replace: 'on true),' }],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'a late failure makes a delivery wait that another process is sending',
    edits: [
      {
        file: STORE,
        find: "and (r.is_success or (d.state = 'pending' and d.attempts = r.number and d.failures = r.failures))",
        replace: '',
      },
    ],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'a 410 does not disable the endpoint',
    edits: [{ file: DELIVERIES, find: 'status === GONE)', replace: 'status === 0)' }],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'a failure at the former URL counts for the present one',
    edits: [{ file: STORE, find: 'where r.was_sent and r.url = e.url)', replace: 'where r.was_sent)' }],
    caughtBy: STORE_TESTS,
  },
  {
    title: 'the results of attempts are lost while the database is away',
    edits: [
      {
        file: DELIVERIES,
        find: 'if (isOutage(error)) throw error;\n        if (results',
        replace: 'if (results',
      },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'an outage between an attempt and the disabling of its endpoint keeps the endpoint enabled',
    edits: [
      {
        file: DELIVERIES,
        find: 'if (isOutage(error)) throw error;\n        this.#options',
        replace: 'this.#options',
      },
    ],
    caughtBy: DELIVERY_TESTS,
  },
  {
    title: 'a failing endpoint takes as many places as any other',
    edits: [
      {
        file: 'src/delivery/attempt-limits.ts',
        find: 'isFailing ? Math.min(1 - running, freeForFailing) : limit - running',
        replace: 'limit - running',
      },
    ],
    caughtBy: 'test/delivery/attempt-limits.test.ts',
  },
];
