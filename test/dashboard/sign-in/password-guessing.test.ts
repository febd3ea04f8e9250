import { ageProofs, createAccount } from '../../support/data/accounts.ts';
import { times } from '../../support/data/actors.ts';
import { PASSWORD } from '../../support/data/password.ts';
import { Browser, type Page, wordsOf } from '../../support/http/dashboard.ts';
import { startDashboard, useDashboard } from '../../support/http/dashboard-server.ts';
import { giveProof } from '../../support/http/proof.ts';

const dashboard = await useDashboard();

let address = 0;

/** Connects from a local address that no other test uses. */
function browserFrom(localAddress?: string): Browser {
  address += 1;
  return new Browser(dashboard.url, { localAddress: localAddress ?? `127.0.8.${address}` });
}

test('behind a trusted proxy each client is rate-limited by its own address, and only the proxy’s word counts', async () => {
  // The attack: ten guesses lock out the account’s owner, who comes through the same proxy.
  const behind = await startDashboard({ trustedProxies: ['127.0.0.1'] });
  try {
    const victim = await createAccount(behind.db);
    const from = (address: string) =>
      new Browser(behind.url, { headers: { 'X-Forwarded-For': address }, localAddress: '127.0.0.1' });
    const guesses = await times(20, async () => (await from('198.51.100.7').signIn(victim.email, 'wrong')).status);
    expect(guesses.filter((status) => status === 429)).toHaveLength(10);
    // The server ignores the addresses that the client puts before the one added by the proxy.
    expect((await from('203.0.113.1, 198.51.100.7').signIn(victim.email, 'wrong')).status).toBe(429);
    expect((await from('203.0.113.9').signIn(victim.email, PASSWORD)).status).toBe(303);
    const event = await behind.db.prisma.auditEvent.findFirstOrThrow({
      where: { action: 'user.signed_in', targetUserId: victim.userId },
    });
    expect(event.ip).toBe('203.0.113.9');
  } finally {
    await behind.close();
  }
});

test('a forged client address neither avoids the rate limit nor slows anybody else', async () => {
  // The attack: each guess sends a new X-Forwarded-For, or the victim’s address so that the victim is slowed.
  const victim = await createAccount(dashboard.db);
  const guesser = browserFrom();
  const statuses = await times(30, async (i) => {
    const claimed = `198.51.100.${i}`;
    const headers = {
      'X-Forwarded-For': claimed,
      Forwarded: `for=${claimed}`,
      'X-Real-IP': claimed,
      'CF-Connecting-IP': claimed,
    };
    return (
      await new Browser(dashboard.url, { headers, localAddress: guesser.localAddress }).signIn(victim.email, 'wrong')
    ).status;
  });
  expect(statuses.filter((status) => status === 422)).toHaveLength(10);
  const event = await dashboard.db.prisma.auditEvent.findFirstOrThrow({
    where: { action: 'user.sign_in_failed', targetUserId: victim.userId },
  });
  expect(event.ip).toBe(guesser.localAddress);
});

test('a rate-limited form gets 429 with the time to wait, in the singular for one minute', async () => {
  // The attack: guessing the password in an open session, through the pages that ask for it again.
  const account = await createAccount(dashboard.db);
  const browser = browserFrom();
  await browser.signIn(account.email, PASSWORD);
  await ageProofs(dashboard.db, account);
  const asked = await browser.submit('/profile/password', { password: 'another violet marmot 77' });
  const guess = (page: Page) => giveProof(browser, page, { password: 'wrong' });
  const responses = await times(30, () => guess(asked));
  const limited = responses.filter(({ status }) => status === 429);
  expect([limited.length, responses.filter(({ status }) => status === 422).length]).toEqual([20, 10]);
  for (const page of limited) {
    expect(wordsOf(page)).toMatch(/There were too many attempts\. Try again in 15 minutes\./);
    expect(Number(page.headers['retry-after'])).toBeGreaterThan(800);
    expect(page.text).toContain('role="alert"');
  }
  const soon = { expire: BigInt(Date.now() + 50_000) };
  await dashboard.db.prisma.signInFailure.updateMany({ where: { points: { gt: 10 } }, data: soon });
  const form_token = await browser.formToken();
  for (const path of ['/profile/password', '/profile/second-factor/remove']) {
    const page = await guess(await browser.post(path, { form_token }));
    expect([path, page.status, Number(page.headers['retry-after']) <= 50]).toEqual([path, 429, true]);
    expect([path, wordsOf(page)]).toEqual([path, expect.stringContaining('Try again in 1 minute.')]);
  }
  const guest = browserFrom(browser.localAddress);
  expect(wordsOf(await guest.signIn(account.email, PASSWORD))).toContain('Try again in 1 minute.');
});
