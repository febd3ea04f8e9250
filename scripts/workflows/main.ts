// Runs the workflows in openapi/workflows against a server, as an integrator would.
import { commandLine } from '../../src/domain/release.ts';
import { runMain } from '../command-line.ts';
import { runWorkflows, workflowFiles } from './run.ts';

const HELP = `CHARTER_API_KEY=... ${commandLine('workflows')} --server URL   runs every workflow of openapi/workflows

  --server URL  the address of Charter or its mock, such as http://127.0.0.1:3000
  --verbose     prints every request and response, with the key masked

The key needs both permissions. The workflows delete what they create. The exit code is 1 if a step fails.
`;

const OPTIONS = { server: { type: 'string' }, verbose: { type: 'boolean', default: false } } as const;

await runMain(OPTIONS, HELP, main);

async function main(values: { server?: string | undefined; verbose: boolean }): Promise<number> {
  const key = process.env['CHARTER_API_KEY']?.trim() ?? '';
  if (key === '') throw new Error(`CHARTER_API_KEY is missing.\n\n${HELP}`);
  const server = originOf(values.server);
  const { isFine, printed } = await runWorkflows({ files: workflowFiles(), server, key, isVerbose: values.verbose });
  process.stdout.write(printed);
  return isFine ? 0 : 1;
}

function originOf(text = ''): string {
  const url = URL.parse(text);
  if (url !== null && /^https?:$/.test(url.protocol) && url.href === `${url.origin}/`) return url.origin;
  throw new Error(`--server must be the address of a server, such as http://127.0.0.1:3000.\n\n${HELP}`);
}
