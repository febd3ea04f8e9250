// Responds in place of a server, for people who build against the API; with --proxy, checks a real server;
// with --stock-prism, starts Prism itself; with --send-events, sends events to a receiver; with --pack, packs itself.
import { join } from 'node:path';
import { root } from '../tool.ts';
import { print, runMockCommand } from './command.ts';

// Each mode imports its own code only: Prism takes a second to load.
await runMockCommand({
  command: 'npm run mock --',
  note: '  Edits    of openapi/ are served as soon as they are saved\n',
  async startMock(options) {
    const { startMock } = await import('./checkout.ts');
    return startMock({ ...options, mainFile: join(root, 'openapi/openapi.yaml') });
  },
  async runStockPrism(options) {
    print(`
  Stock Prism on generated/openapi.yaml; any key will do: -H "Authorization: Bearer x"
  It differs from the server, as openapi/guides/mock-server.md lists. Without --stock-prism, the mock responds as the server does.
`);
    const { runStockPrism } = await import('./stock-prism.ts');
    await runStockPrism(options);
  },
  async pack() {
    const { packMock } = await import('./package/pack-mock.ts');
    print(await packMock());
  },
});
