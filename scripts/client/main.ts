// Builds the client for integrators in generated/client/ and packs it as generated/charter-client-<version>.tgz.
import { runMain } from '../command-line.ts';
import { buildPackage, packIntoGenerated } from './build-package.ts';

const HELP = 'npm run client   packs generated/charter-client-<version>.tgz, for npm install\n';

await runMain({}, HELP, async () => {
  process.stdout.write(`${await packIntoGenerated('client', buildPackage)}\n`);
});
