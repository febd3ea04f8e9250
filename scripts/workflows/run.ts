import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CONFIG } from '../lint/contract.ts';
import { root, tryTool } from '../tool.ts';

/** The Arazzo files, with one or more workflows each. */
export function workflowFiles(): string[] {
  return globSync('openapi/workflows/*.arazzo.yaml', { cwd: root }).sort();
}

export type WorkflowRun = {
  readonly isFine: boolean;
  /** Redocly's report of every step and check, with the key masked. */
  readonly printed: string;
};

type Running = {
  readonly files: readonly string[];
  /** The origin, such as http://127.0.0.1:3000. */
  readonly server: string;
  readonly key: string;
  /** Whether every request and response is reported, too. */
  readonly isVerbose?: boolean;
};

/** Runs the workflows of Arazzo files one after another; the paths start at the root of the checkout. */
export async function runWorkflows({ files, server, key, isVerbose = false }: Running): Promise<WorkflowRun> {
  // Passed in the environment: every user of the machine could read the key in the command line.
  const env = {
    ...process.env,
    REDOCLY_CLI_RESPECT_INPUT: JSON.stringify({ api_key: key, idempotency_key: randomUUID() }),
    REDOCLY_CLI_RESPECT_SERVER: `charter=${server}`,
  };
  const paths = files.map((file) => resolve(root, file));
  // Redocly takes its configuration from the working directory; this command has no option for it.
  const cwd = join(root, dirname(CONFIG));
  const { code, printed } = await tryTool('redocly', ['respect', ...paths, ...(isVerbose ? ['--verbose'] : [])], {
    env,
    cwd,
  });
  return { isFine: code === 0, printed };
}
