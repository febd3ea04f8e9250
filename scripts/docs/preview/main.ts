// Serves the documentation to whoever is writing it: a saved file of openapi/ is shown within a second. Ctrl-C ends it.
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { watchForShutdown } from '../../../src/shutdown.ts';
import { startPreview } from './server.ts';

const DEFAULT_PORT = 4020;
const HELP = `npm run docs:preview -- [--port ${DEFAULT_PORT}]   shows openapi/ in the browser, each file as it is saved

  --port  0 takes any free one
`;

try {
  await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  // Listening for the end of the parent would keep this process.
  process.channel?.unref();
}

async function main(): Promise<void> {
  const stop = watchForShutdown();
  const { values } = parseArgs({
    options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) return void process.stdout.write(HELP);
  const preview = await startPreview({
    root: join(import.meta.dirname, '../../..'),
    port: portOf(values.port),
    print: (line) => process.stdout.write(`${line}\n`),
  });
  process.stdout.write(`\n  ${preview.url} shows openapi/ as it is saved. Ctrl-C ends it.\n\n`);
  stop.started();
  await stop.reason;
  preview.close();
}

function portOf(given = String(DEFAULT_PORT)): number {
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new Error(`--port is "${given}". Give an integer from 0 to 65535.`);
}
