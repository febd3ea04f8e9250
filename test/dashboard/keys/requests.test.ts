import type { OutcomeCounts } from '../../../src/domain/key-usage.ts';
import { rotateKey } from '../../../src/service/keys/rotate-key.ts';
import { orThrow } from '../../../src/service/outcome.ts';
import { createPeople, giveKey } from '../../support/data/actors.ts';
import { addRequests } from '../../support/data/key-uses.ts';
import { type Page, wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, useDashboard } from '../../support/http/dashboard-server.ts';

const dashboard = await useDashboard();
const { db } = dashboard;
const people = await createPeople(db);
const { administrator, manager, member } = people;

// Half past, so that no hour ends during the tests.
dashboard.passMinutes((90 - dashboard.now().getUTCMinutes()) % 60);

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const pageOf = (id: string) => `/people/users/${member.userId}/api-keys/${id}`;

/** Counts requests in the hour that was so long ago. */
async function count(
  keyId: string,
  agoMs: number,
  counts: Partial<OutcomeCounts> & { readonly limited?: number },
): Promise<void> {
  const { organizationId } = people.scope;
  await addRequests(db, { organizationId, keyId, at: new Date(dashboard.now().getTime() - agoMs), ...counts });
}

/** The figures of the page. */
function figuresOf({ text }: Page): { days: string; hours: string } {
  const [days = '', hours = ''] = text.match(/<figure>.*?<\/figure>/gs) ?? [];
  return { days, hours };
}

const rowsOf = (figure: string) =>
  [...figure.matchAll(/<tr role="row">(?:(?!<\/tr>).)*role="rowheader"(?:(?!<\/tr>).)*<\/tr>/gs)].map(([row]) =>
    wordsOf({ text: row }).trim(),
  );

test('a request with a key appears on its page within a minute, with what became of it', async () => {
  const { id, key } = await giveKey(db, member, { name: 'Counted' });
  const browser = await browserOf(dashboard, member);
  const path = `/profile/api-keys/${id}`;
  expect(wordsOf(await browser.get(path))).toContain('No requests in the last 30 days.');
  for (let i = 0; i < 3; i += 1) await dashboard.statusOf(key);
  await dashboard.writeUses();
  const page = await browser.get(path);
  const { days, hours } = figuresOf(page);
  for (const figure of [days, hours]) expect(figure).toContain('3 successful, 0 refused, 0 failed');
  expect(wordsOf(page)).toContain(
    'Requests of the last minute may be missing. Requests to a path or with a method that the API does not have are not counted.',
  );
  expect(wordsOf(page)).toMatch(/Last used (just now|\d+ minutes? ago) from 127\.0\.0\.1 /);
});

test('the page shows 30 days and 48 hours, with totals, and a table of the same numbers', async () => {
  const { id } = await giveKey(db, member, { name: 'Shown' });
  await count(id, 0, { successful: 1234, refused: 5, failed: 1 });
  await count(id, 47 * HOUR_MS, { successful: 10 });
  await count(id, 48 * HOUR_MS, { refused: 20 });
  await count(id, 29 * DAY_MS, { failed: 300 });
  await count(id, 30 * DAY_MS, { failed: 4000 });
  const { days, hours } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  expect(days).toContain('aria-label="Last 30 days: 1,244 successful, 25 refused, 301 failed; at most');
  expect(hours).toContain(
    'aria-label="Last 48 hours: 1,244 successful, 5 refused, 1 failed; at most 1,240 in one hour.',
  );
  expect(days.match(/<g>/g)).toHaveLength(30);
  expect(hours.match(/<g>/g)).toHaveLength(48);
  const [latest = '', earliest = ''] = rowsOf(hours);
  expect(rowsOf(hours)).toHaveLength(2);
  expect(latest).toMatch(/^\d+ \w+ 20\d\d, \d\d:00 UTC 1,234 5 1$/);
  expect(earliest).toMatch(/UTC 10 0 0$/);
  expect(rowsOf(days).at(-1)).toMatch(/^\d+ \w+ 20\d\d 0 0 300$/);
});

test('the page says how many requests of the last 48 hours were refused by a rate limit, if there were any', async () => {
  const { id } = await giveKey(db, member, { name: 'Limited' });
  const browser = await browserOf(dashboard, manager);
  await count(id, 0, { successful: 7, refused: 1 });
  expect(wordsOf(await browser.get(pageOf(id)))).not.toContain('429 in these hours');
  await count(id, 0, { refused: 144, limited: 144 });
  await count(id, 47 * HOUR_MS, { refused: 1000, limited: 900 });
  await count(id, 48 * HOUR_MS, { refused: 5000, limited: 5000 });
  expect(wordsOf(await browser.get(pageOf(id)))).toMatch(
    /Most in an hour of the last 48: 1,000 requests \(.*% of the limit\) ?Refused with 429 in these hours: 1,044 requests /,
  );
});

test('the axes have at most seven dates, the days a week apart, and a round number of requests at the top', async () => {
  const { id } = await giveKey(db, member, { name: 'Scaled' });
  await count(id, 0, { successful: 3 });
  const { days, hours } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  const labelsOf = (figure: string) => [...figure.matchAll(/<text [^>]*>([^<]*)</g)].map(([, text]) => text);
  expect(labelsOf(days)).toEqual([...Array(4).fill(expect.stringMatching(/^\d+ \w{3}$/)), 'Today']);
  expect(labelsOf(hours)).toHaveLength(4);
  expect(labelsOf(hours).filter((text) => text === '12:00')).toHaveLength(2);
  for (const figure of [days, hours]) expect(figure).toContain('<span>4</span><span>2</span><span>0</span>');
});

test('a single refused and a single failed request are visible beside a million successes', async () => {
  const { id } = await giveKey(db, member, { name: 'Mostly good' });
  await count(id, 0, { successful: 1_000_000, refused: 1, failed: 1 });
  const { days } = figuresOf(await (await browserOf(dashboard, manager)).get(pageOf(id)));
  const [chart = ''] = days.match(/<svg class="use-chart".*?<\/svg>/s) ?? [];
  const bars = [
    ...chart.matchAll(/<rect class="use-(successful|refused|failed)"[^>]* y="([\d.]+)"[^>]* height="([\d.]+)"/g),
  ];
  expect(bars.map(([, outcome]) => outcome)).toEqual(['successful', 'refused', 'failed']);
  for (const [, , y = '', height = ''] of bars) {
    expect(Number(height)).toBeGreaterThanOrEqual(2);
    expect(Number(y)).toBeGreaterThanOrEqual(0);
    expect(Number(y) + Number(height)).toBeLessThanOrEqual(100);
  }
});

test('the chart needs no script and no inline style, which the Content-Security-Policy forbids', async () => {
  const { id } = await giveKey(db, member, { name: 'Plain' });
  await count(id, 0, { successful: 1, refused: 1, failed: 1 });
  const page = await (await browserOf(dashboard, administrator)).get(pageOf(id));
  const { days, hours } = figuresOf(page);
  for (const figure of [days, hours]) expect(figure).not.toMatch(/<script|<style|\sstyle=|\son\w+=/);
  // Every pattern that a bar refers to is in the page once.
  for (const [, name] of `${days}${hours}`.matchAll(/url\(#([\w-]+)\)/g))
    expect(page.text.split(`id="${name}"`)).toHaveLength(2);
});

test('the requests of a key are on its own page only, not on that of its successor or of another key', async () => {
  const [one, two] = [await giveKey(db, member, { name: 'One' }), await giveKey(db, member, { name: 'Two' })];
  await count(one.id, 0, { successful: 77 });
  const rotation = { keyId: one.id, userId: member.userId, environment: 'live' } as const;
  const successor = orThrow(await rotateKey(db, manager, rotation));
  const browser = await browserOf(dashboard, manager);
  expect((await browser.get(pageOf(one.id))).text).toContain('77 successful');
  for (const { id } of [two, successor]) expect((await browser.get(pageOf(id))).text).not.toContain('77 successful');
});
