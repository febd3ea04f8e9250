import { startMock } from '../../../scripts/mock/checkout.ts';
import { createTestOrganization, startServer } from '../servers/server.ts';

export type Target = { readonly url: string; readonly apiKey: string; close(): Promise<void> };

/** Every server that implements the contract; the client's tests run against each. */
export const TARGETS: readonly { readonly name: string; start(): Promise<Target> }[] = [
  { name: 'the server', start: startRealServer },
  { name: 'the mock', start: startMockServer },
];

/** Creates an organization with enough parent programs for several list pages. */
async function startRealServer(): Promise<Target> {
  const server = await startServer();
  const { key, client } = await createTestOrganization(server);
  for (const name of ['Nordic Scholars', 'Baltic Scholars', 'Alpine Scholars']) {
    await client.post('/api/parent_programs', { name });
  }
  return { url: server.url, apiKey: key, close: () => server.close() };
}

async function startMockServer(): Promise<Target> {
  const { url, key, close } = await startMock({ port: 0 });
  return { url, apiKey: key, close };
}
