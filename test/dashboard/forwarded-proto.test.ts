import { createAccount } from '../support/accounts.ts';
import { wordsOf } from '../support/dashboard.ts';
import { browserOf, startDashboard } from '../support/dashboard-server.ts';

/** The line to paste beside a new key, in which our own address stands. */
async function curlLineOf(options: { trustedProxies?: readonly string[]; publicUrl?: string }): Promise<string> {
  const dashboard = await startDashboard(options);
  try {
    const headers = { 'X-Forwarded-Proto': 'https', Host: 'charter.example.org' };
    const browser = await browserOf(dashboard, await createAccount(dashboard.db), headers);
    const shown = await browser.submit('/profile/api-keys/new', { name: 'Ours' }, '/profile/api-keys');
    return /"(https?:[^"]*)"/.exec(wordsOf(shown))?.[1] ?? '';
  } finally {
    await dashboard.close();
  }
}

test.each([
  // The attack: a header of the client's own, from which links and cookies would take what they are.
  ['nobody is trusted', {}, 'http://charter.example.org'],
  ['another address is trusted', { trustedProxies: ['192.0.2.1', '10.0.0.0/8'] }, 'http://charter.example.org'],
  ['the sender is trusted', { trustedProxies: ['127.0.0.1'] }, 'https://charter.example.org'],
  [
    'PUBLIC_URL says otherwise',
    { trustedProxies: ['127.0.0.1'], publicUrl: 'http://public.example.org' },
    'http://public.example.org',
  ],
])('X-Forwarded-Proto counts only from a trusted address: %s', async (_, options, origin) => {
  expect(await curlLineOf(options)).toBe(`${origin}/api/parent_programs?limit=2`);
});
