// Runs the workflows of openapi/workflows against a server, as an integrator would.
import { parseArgs } from 'node:util';
import { commandLine } from '../../src/domain/release.ts';
import { workflowFiles } from './files.ts';
import { runWorkflows } from './run.ts';

const HELP = `CHARTER_API_KEY=... ${commandLine('workflows')} --server URL   runs every workflow of openapi/workflows

  --server URL  the address of Charter or its mock, such as http://127.0.0.1:3000
  --verbose     prints every request and response, with the key masked

The key needs both permissions. The workflows delete what they create. The exit code is 1 if a step fails.
`;

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n\n${HELP}`);
  process.exitCode = 1;
}

async function main(): Promise<number> {
  const flag = { type: 'boolean', default: false } as const;
  const { values } = parseArgs({
    options: { server: { type: 'string' }, verbose: flag, help: { ...flag, short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(HELP);
    return 0;
  }
  const key = process.env['CHARTER_API_KEY']?.trim() ?? '';
  if (key === '') throw new Error('CHARTER_API_KEY is missing.');
  const server = originOf(values.server);
  const { isFine, printed } = await runWorkflows({ files: workflowFiles(), server, key, isVerbose: values.verbose });
  process.stdout.write(printed);
  return isFine ? 0 : 1;
}

function originOf(text = ''): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new Error('--server must be the address of a server, such as http://127.0.0.1:3000.');
}
