/** What all test files of a run share. `services.ts` starts each of them when a test first requests it. */
export const SHARED = ['postgres', 'browser'] as const;
export type Shared = (typeof SHARED)[number];

const asked = new Map<Shared, Promise<string>>();

/** Returns the URL of PostgreSQL, for a superuser and with the name of the template, or the URL of Chromium for Playwright. */
export function sharedUrl(name: Shared): Promise<string> {
  const url = asked.get(name) ?? ask(name);
  asked.set(name, url);
  return url;
}

async function ask(name: Shared): Promise<string> {
  const response = await fetch(`${process.env['CHARTER_TEST_SERVICES']}/${name}`);
  const text = await response.text();
  if (!response.ok) throw new Error(`The run's ${name} does not start: ${text}`);
  return text;
}
