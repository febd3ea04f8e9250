import { globSync } from 'node:fs';
import { root } from '../tool.ts';

/** The Arazzo files, with one or more workflows each. */
export function workflowFiles(): string[] {
  return globSync('openapi/workflows/*.arazzo.yaml', { cwd: root }).sort();
}
