import { bundle, createConfig } from '@redocly/openapi-core';
import type { Document } from '../src/api/contract.ts';
import type { Json } from '../src/api/document.ts';

let configured: ReturnType<typeof createConfig> | undefined;

/**
 * The contract of this main file in one document; `isDereferenced`: without any `$ref`. In this process: the command takes longer
 * to start than to bundle. Throws with the errors if it cannot be bundled.
 */
export async function bundleContract(
  mainFile: string,
  { isDereferenced = false }: { isDereferenced?: boolean } = {},
): Promise<Document & Json> {
  configured ??= createConfig({});
  const { bundle: bundled, problems } = await bundle({
    ref: mainFile,
    config: await configured,
    dereference: isDereferenced,
  });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  // A plain value, without the objects that several places of the result share.
  return JSON.parse(JSON.stringify(bundled.parsed));
}
