import { randomUUID } from 'node:crypto';
import { tryTool } from '../tool.ts';

export type WorkflowRun = {
  readonly isFine: boolean;
  /** Every step and check, in Redocly's words; the key is masked in them. */
  readonly printed: string;
};

export type Running = {
  readonly files: readonly string[];
  /** Its origin, such as http://127.0.0.1:3000. */
  readonly server: string;
  readonly key: string;
  /** Prints every request and answer, too. */
  readonly isVerbose?: boolean;
};

/** Runs the workflows of Arazzo files one after another, from the root of the checkout, against a server or the mock. */
export async function runWorkflows({ files, server, key, isVerbose = false }: Running): Promise<WorkflowRun> {
  // Not as parameters, which everybody on the machine can read while it runs.
  const env = {
    ...process.env,
    REDOCLY_CLI_RESPECT_INPUT: JSON.stringify({ api_key: key, idempotency_key: randomUUID() }),
    REDOCLY_CLI_RESPECT_SERVER: `charter=${server}`,
  };
  const { code, printed } = await tryTool('redocly', ['respect', ...files, ...(isVerbose ? ['--verbose'] : [])], {
    env,
  });
  return { isFine: code === 0, printed };
}
