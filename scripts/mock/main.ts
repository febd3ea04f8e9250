// Responds in place of a server, for people who build against the API; with --proxy, checks a real server;
// with --stock-prism, starts Prism itself; with --send-events, sends events to a receiver; with --pack, packs itself.
import { join } from 'node:path';
import { listen } from '../../src/server.ts';
import { packIntoGenerated } from '../client/build-package.ts';
import { root } from '../tool.ts';
import { type OptionsOf, print, runMockCommand } from './command.ts';

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
    await runStockPrism(options);
  },
  async pack() {
    const { buildMockPackage } = await import('./package/pack-mock.ts');
    print(await packIntoGenerated('mock', buildMockPackage));
  },
});

/**
 * Runs the command `prism mock` of @stoplight/prism-cli in this process, on the published document. It prints its address
 * and every request, and serves until the process exits. Rejects where the port is in use.
 */
async function runStockPrism({ port, host, isDynamic, dynamicSeed }: OptionsOf<'stock-prism'>): Promise<void> {
  // Prism itself would exit, with its whole help text.
  await (await listen(() => {}, { host, port })).stop();
  process.argv = [
    process.execPath,
    'prism',
    'mock',
    join(root, 'generated/openapi.yaml'),
    `--host=${host}`,
    `--port=${port}`,
    // In production, Prism would start a second process, which a signal to this one would leave behind.
    '--multiprocess=false',
    ...(isDynamic ? ['--dynamic'] : []),
    ...(dynamicSeed === undefined ? [] : [`--seed=${dynamicSeed}`]),
  ];
  await import('@stoplight/prism-cli');
}
