// Packs the client for integrators: builds generated/client/ and packs it as generated/charter-client-<version>.tgz.
import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runMain } from '../command-line.ts';
import { root } from '../tool.ts';
import { buildPackage, pack } from './build-package.ts';

const generated = join(root, 'generated');
const HELP = 'npm run client   packs generated/charter-client-<version>.tgz, for npm install\n';

await runMain({}, HELP, async () => {
  const folder = join(generated, 'client');
  const old = (await readdir(generated)).filter((name) => /^(client|charter-client-.*\.tgz)$/.test(name));
  await Promise.all(old.map((name) => rm(join(generated, name), { recursive: true })));
  await buildPackage(folder);
  const tarball = await pack(folder, generated);
  const kibibytes = (await stat(tarball)).size / 1024;
  process.stdout.write(`${relative(root, tarball)}: ${kibibytes.toFixed(1)} KiB\n`);
});
