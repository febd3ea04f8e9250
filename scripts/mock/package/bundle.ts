// The entry point of the bundle: all code of the package, in one file.

import { readPackedAssets } from '../assets.ts';
import { runMockCommand } from '../command.ts';
import { openMock } from '../server.ts';

export { MockError, startMock } from './charter-mock.ts';

export function runCommand(): Promise<void> {
  return runMockCommand({
    command: 'npx charter-mock',
    note: '',
    startMock: async (options) => openMock(await readPackedAssets(), options),
  });
}
