import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describePackage } from '../client/package-files.ts';
import { root } from '../tool.ts';

const OLDEST_NODE = 20;

/**
 * Writes exactly the files of the package `charter-mcp` into the folder. The package has no dependencies, because its bundle
 * contains them.
 */
export async function buildMcpPackage(folder: string): Promise<void> {
  const manifest = await readManifest();
  await mkdir(folder, { recursive: true });
  await build({
    entryPoints: [join(root, 'src/mcp/charter-mcp.ts')],
    outfile: join(folder, 'charter-mcp.js'),
    absWorkingDir: root,
    bundle: true,
    minify: true,
    platform: 'node',
    target: `node${OLDEST_NODE}`,
    format: 'esm',
    legalComments: 'linked',
    logLevel: 'silent',
  });
  await describePackage(folder, { manifest, readme: 'src/mcp/README.md' });
}

async function readManifest() {
  const { license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'));
  const { info } = JSON.parse(await readFile(join(root, 'generated/openapi.json'), 'utf8'));
  return {
    name: 'charter-mcp',
    // The version of the contract in the package.
    version: info.version,
    description: "A Model Context Protocol server for Charter's API",
    license,
    type: 'module',
    bin: { 'charter-mcp': './charter-mcp.js' },
    engines: { node: `>=${OLDEST_NODE}` },
  };
}
