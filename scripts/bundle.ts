import { relative } from 'node:path';
import {
  bundle,
  createConfig,
  getLineColLocation,
  type LocationObject,
  type NormalizedProblem,
  YamlParseError,
} from '@redocly/openapi-core';
import type { Document } from '../src/contract/contract.ts';
import type { Json } from '../src/contract/document.ts';
import { type Found, problemsOf } from './lint/contract.ts';
import { type Problem, problemsText } from './lint/problem.ts';
import { root } from './tool.ts';

/** The contract cannot be bundled. Its problems are worded as `npm run lint` words them. */
export class UnbundledError extends Error {
  readonly problems: readonly Problem[];

  constructor(problems: readonly Problem[]) {
    super(problemsText(problems));
    this.name = 'UnbundledError';
    this.problems = problems;
  }
}

let configured: ReturnType<typeof createConfig> | undefined;

/**
 * The contract of this main file in one document; `isDereferenced`: without any `$ref`. In this process: the command takes longer
 * to start than to bundle. Throws an `UnbundledError` if a file cannot be read or has a `$ref` without a target.
 */
export async function bundleContract(
  mainFile: string,
  { isDereferenced = false }: { isDereferenced?: boolean } = {},
): Promise<Document & Json> {
  configured ??= createConfig({});
  const options = { ref: mainFile, config: await configured, dereference: isDereferenced };
  const { bundle: bundled, problems } = await bundle(options).catch((error: unknown) => {
    throw error instanceof YamlParseError ? new UnbundledError(problemsOf([foundInMainFile(error)])) : error;
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new UnbundledError(problemsOf(errors.map(foundIn)));
  // A plain value, without the objects that several places of the result share.
  return JSON.parse(JSON.stringify(bundled.parsed));
}

/** The bundler reports what the linter reports, but under a rule of its own. */
function foundIn({ ruleId, message, suggest, location }: NormalizedProblem): Found {
  const isReference = /^(Failed to parse|Can't resolve)\b/.test(message);
  return {
    ruleId: isReference ? 'no-unresolved-refs' : ruleId,
    message,
    suggest,
    location: location.map(placeOf),
  };
}

function foundInMainFile({ message, source, line, col }: YamlParseError): Found {
  const place = { source: { ref: relative(root, source.absoluteRef) }, start: { line, col } };
  return { ruleId: 'no-unresolved-refs', message: `Failed to parse: ${message}`, suggest: [], location: [place] };
}

function placeOf(location: LocationObject): Found['location'][number] {
  const { source, start } = getLineColLocation(location);
  return { source: { ref: relative(root, source.absoluteRef) }, pointer: location.pointer ?? '', start };
}
