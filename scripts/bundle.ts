import { join } from 'node:path';
import { bundle, type Config } from '@redocly/openapi-core';
import { type Contract, contractOf } from '../contract.ts';

/** In this process: the command takes longer to start than to bundle. */
export async function bundleContract(root: string, config: Config): Promise<Contract> {
  const { bundle: bundled, problems } = await bundle({ ref: join(root, 'openapi/openapi.yaml'), config });
  const errors = problems.filter(({ severity }) => severity === 'error');
  if (errors.length > 0) throw new Error(errors.map(({ message }) => message).join('\n'));
  // A plain value, without the objects that several places of the result share.
  return contractOf(JSON.parse(JSON.stringify(bundled.parsed)));
}
