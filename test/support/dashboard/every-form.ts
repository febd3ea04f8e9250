import type { Database } from '../../../src/store/sql/database.ts';
import { giveKey, inParallel, type People } from '../data/actors.ts';
import { giveIntegration, giveIntegrationKey } from '../data/integrations.ts';
import { addEndpoint, writeEvent } from '../data/webhooks.ts';
import { type Browser, type Fields, fillForm } from './dashboard.ts';
import { fill } from './dashboard-server.ts';
import { formsOf } from './forms.ts';

/**
 * Creates a row of each kind whose id a path of the router can contain, in the organization of these people. Returns a function
 * that fills the ids into a path.
 */
export async function createOneOfEach(
  db: Database,
  { administrator, manager, member, scope }: Pick<People, 'administrator' | 'manager' | 'member' | 'scope'>,
): Promise<(pattern: string) => string> {
  const { id: endpointId } = await addEndpoint(db, administrator);
  const messageId = await writeEvent(db, scope);
  const integration = await giveIntegration(db, manager);
  const own = (await giveKey(db, administrator)).id;
  const ofMember = (await giveKey(db, member)).id;
  const ofIntegration = (await giveIntegrationKey(db, manager, integration)).id;
  const ids = { userId: member.userId, endpointId, messageId, integrationId: integration.id, token: 'x'.repeat(43) };
  return (pattern) => {
    const keyId = pattern.startsWith('/profile') ? own : pattern.startsWith('/people') ? ofMember : ofIntegration;
    return fill(pattern, { ...ids, keyId });
  };
}

/** Returns the forms of these pages as they would be sent unchanged, by the path that they post to. */
export async function formsAt(browser: Browser, paths: readonly string[]): Promise<Map<string, Fields>> {
  const forms = new Map<string, Fields>();
  await inParallel(paths, async (path) => {
    for (const form of formsOf((await browser.get(path)).text)) forms.set(form.action, fillForm(form));
  });
  return forms;
}
