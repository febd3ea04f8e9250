import { randomUUID } from 'node:crypto';
import { globSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { CONFIG } from '../lint/contract.ts';
import { root, tryTool } from '../tool.ts';

/** Returns the Arazzo files. Each contains one or more workflows. */
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
  /** Whether the report also contains every request and response. */
  readonly isVerbose?: boolean;
};

/** Runs the workflows of the Arazzo files one after another. The paths are relative to the root of the checkout. */
export async function runWorkflows({ files, server, key, isVerbose = false }: Running): Promise<WorkflowRun> {
  // The key is passed in the environment, because every user of the machine can read the command line.
  const env = {
    ...process.env,
    REDOCLY_CLI_RESPECT_INPUT: JSON.stringify({ api_key: key, idempotency_key: randomUUID() }),
    REDOCLY_CLI_RESPECT_SERVER: `charter=${server}`,
  };
  const paths = files.map((file) => resolve(root, file));
  // Redocly takes its configuration from the working directory, because `respect` has no option for the configuration.
  const cwd = join(root, dirname(CONFIG));
  const { code, printed } = await tryTool('redocly', ['respect', ...paths, ...(isVerbose ? ['--verbose'] : [])], {
    env,
    cwd,
  });
  return { isFine: code === 0, printed };
}
