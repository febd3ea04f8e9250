// Serves the documentation to its writers. A saved file of openapi/ is visible within a second.
import { watchForShutdown } from '../../../src/shutdown.ts';
import { runMain } from '../../command-line.ts';
import { root } from '../../tool.ts';

const DEFAULT_PORT = 4020;
const HELP = `npm run docs:preview -- [--port ${DEFAULT_PORT}]   serves the documentation, and reloads it when a file of openapi/ is saved

  --port  the port to listen on; 0 selects any free port
`;

await runMain({ port: { type: 'string' } }, HELP, main);
// An open IPC channel would keep this process alive.
process.channel?.unref();

async function main({ port }: { port?: string | undefined }): Promise<void> {
  const stop = watchForShutdown();
  const options = { root, port: portOf(port), print: (line: string) => process.stdout.write(`${line}\n`) };
  // The server is imported last, because Redocly takes long to load. The help and a wrong port are thus reported at once.
  const { startPreview } = await import('./server.ts');
  const preview = await startPreview(options);
  process.stdout.write(`\n  ${preview.url}/docs reloads when a file of openapi/ is saved. Ctrl-C ends it.\n\n`);
  stop.markStarted();
  await stop.reason;
  preview.close();
}

function portOf(given = String(DEFAULT_PORT)): number {
  if (/^\d{1,5}$/.test(given) && Number(given) <= 65_535) return Number(given);
  throw new Error(`--port is "${given}". Give an integer from 0 to 65535.`);
}
