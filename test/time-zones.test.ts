// Days and times of day are in UTC, wherever the server runs. Only the browser's script uses another time zone.

import { parseDay } from '../src/dashboard/forms/fields.ts';
import { lifeOptions } from '../src/dashboard/keys/fields.ts';
import { chartFigure } from '../src/dashboard/markup/chart.ts';
import { day, exactInstant, instant, since } from '../src/dashboard/markup/words.ts';
import { lastDay } from '../src/dashboard/webhooks/cells.ts';
import { firstShown } from '../src/domain/keys/key-usage.ts';
import { formatDay, formatInstant, formatSecond } from '../src/domain/time.ts';
import { read, sourcesIn } from './support/contract/texts.ts';
import { createScratchDatabase, TIME_ZONE, withClient } from './support/postgres/postgres.ts';
import { openTestDatabase } from './support/postgres/store.ts';
import { runFile } from './support/processes/process.ts';

const TODAY = { startsAt: new Date('2026-03-01T00:00:00.000Z'), succeeded: 1, failed: 0 };
const YESTERDAY = { startsAt: new Date('2026-02-28T00:00:00.000Z'), succeeded: 1, failed: 1 };
const USE = { startsAt: TODAY.startsAt, successful: 1, refused: 0, failed: 0 };

/** Moments of one UTC day, which fall on two different days in most other time zones. */
const MOMENTS = ['00:00:00.000', '07:59:59.999', '18:30:00.000', '23:59:59.999'].map(
  (time) => new Date(`2026-03-01T${time}Z`),
);

/** Returns what people read at this moment. */
function shownAt(now: Date): string[] {
  const days = [YESTERDAY, TODAY];
  const chart = { period: 'day', title: 'Days', counted: 'Requests', outcomes: ['successful'], uses: [USE] } as const;
  const policy = {
    membersMayCreateKeys: true,
    maxKeyLifeDays: 30,
    allowsUnendingKeys: false,
    requiresAddresses: false,
  };
  return [
    formatDay(now),
    formatInstant(now),
    formatSecond(now),
    ...[day(now), instant(now), exactInstant(now), since(new Date('2026-01-20T23:30:00Z'), now)].map(String),
    ...[lastDay({ days }, 'succeeded', now), lastDay({ days }, 'failed', now), chartFigure(chart)].map(String),
    ...lifeOptions(policy, now).map(({ words }) => words),
    parseDay('2026-03-01')?.toISOString() ?? '',
    firstShown('day', now).toISOString(),
  ];
}

function inZone<T>(zone: string, work: () => T): T {
  const own = process.env['TZ'];
  process.env['TZ'] = zone;
  try {
    return work();
  } finally {
    process.env['TZ'] = own;
  }
}

const inUtc = inZone('UTC', () => MOMENTS.map(shownAt));

test.each([
  ['America/Los_Angeles', 480],
  ['Asia/Kolkata', -330],
  ['Pacific/Kiritimati', -840],
])('in %s, people read the days and times of UTC', (zone, offset) => {
  inZone(zone, () => {
    expect(TODAY.startsAt.getTimezoneOffset()).toBe(offset);
    expect(MOMENTS.map(shownAt)).toEqual(inUtc);
  });
});

test.each(MOMENTS)('at %p, the last day with a success is today, and that with a failure is yesterday', (now) => {
  const days = [YESTERDAY, TODAY];
  expect(String(lastDay({ days }, 'succeeded', now))).toBe('<time datetime="2026-03-01">Today</time>');
  expect(String(lastDay({ days }, 'failed', now))).toBe('<time datetime="2026-02-28">28 Feb 2026</time>');
});

const LOCAL_TIME = [
  // Parts of a date in the time zone of the machine.
  /\.(?:get|set)(?:Date|Day|Month|FullYear|Year|Hours|Minutes|Seconds|Milliseconds)\(/,
  /\.to(?:Date|Time|LocaleDate|LocaleTime)String\(|getTimezoneOffset|DateTimeFormat/,
  // `new Date(2026, 2, 1)`, and a date and time without a zone.
  /new Date\([^()]*,/,
  /T\d\d:\d\d:\d\d(?!\.?\d*(?:Z|[+-]\d\d:\d\d))/,
  // In PostgreSQL, a day in the time zone of the session. `date_trunc` takes a zone as its third parameter.
  /\b(?:current_date|localtime\w*)\b|date_trunc\([^,()]+,[^,()]+\)/i,
];

test('nothing in the source depends on the time zone of the machine', () => {
  const found = sourcesIn('src').flatMap((file) => {
    const text = read(file);
    return LOCAL_TIME.flatMap((pattern) => pattern.exec(text)?.map((words) => `${file}: ${words}`) ?? []);
  });
  expect(found).toEqual([]);
});

// In UTC, the other tests would prove nothing about time zones.

test('the tests and the processes that they start run in a time zone other than UTC', async () => {
  expect(new Date(0).getTimezoneOffset()).toBe(-330);
  expect((await runFile('test/support/processes/print-time-zone.mjs', [])).stdout).toBe('-330\n');
});

test('the databases of the tests have another default time zone, and the server reads them in UTC', async () => {
  const scratch = await createScratchDatabase();
  const shown = await withClient(scratch.url, (client) => client.query('show timezone'));
  expect(shown.rows).toEqual([{ TimeZone: TIME_ZONE }]);
  await scratch.drop();
  const { db, close } = await openTestDatabase();
  expect((await db.pool.query('show timezone')).rows).toEqual([{ TimeZone: 'UTC' }]);
  await close();
});
