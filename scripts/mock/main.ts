// The command `npm run mock`: responds in place of a server, for people who develop against the API. With --proxy, it checks a
// real server; with --stock-prism, it starts Prism; with --send-events, it sends events to a receiver; with --pack, it builds the
// package charter-mock.
import { join } from 'node:path';
import { listen } from '../../src/server.ts';
import { packIntoGenerated } from '../client/build-package.ts';
import { root } from '../tool.ts';
import { type OptionsOf, print, runMockCommand } from './command.ts';

// Each mode imports only the code that it needs, because Prism takes a second to load.
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
 * Runs the command `prism mock` of @stoplight/prism-cli in this process, with the published document. Prism prints its URL and
 * each request, and runs until the process exits. Rejects if the port is in use.
 */
async function runStockPrism({ port, host, isDynamic, dynamicSeed }: OptionsOf<'stock-prism'>): Promise<void> {
  // If the port is in use, `listen` rejects with a clear message. Prism would print its whole help text and exit.
  await (await listen(() => {}, { host, port })).stop();
  process.argv = [
    process.execPath,
    'prism',
    'mock',
    join(root, 'generated/openapi.yaml'),
    `--host=${host}`,
    `--port=${port}`,
    // In production, Prism would start a second process, which would not stop when this process gets a signal.
    '--multiprocess=false',
    ...(isDynamic ? ['--dynamic'] : []),
    ...(dynamicSeed === undefined ? [] : [`--seed=${dynamicSeed}`]),
  ];
  await import('@stoplight/prism-cli');
}
