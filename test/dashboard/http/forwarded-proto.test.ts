import { createAccount } from '../../support/data/accounts.ts';
import { wordsOf } from '../../support/http/dashboard.ts';
import { browserOf, startDashboard } from '../../support/http/dashboard-server.ts';
import { useScratchDatabase } from '../../support/postgres/postgres.ts';

const scratch = await useScratchDatabase();

/** The command line shown beside a new key; it contains our own URL. */
async function curlLineOf(options: { trustedProxies?: readonly string[]; publicUrl?: string }): Promise<string> {
  const dashboard = await startDashboard({ databaseUrl: scratch.url, ...options });
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
  // The attack: a client sends the header to change our links and cookies.
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
