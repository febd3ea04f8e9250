// Builds the MCP server (Model Context Protocol) in generated/mcp/ and packs it as generated/charter-mcp-<version>.tgz.
import { packIntoGenerated } from '../client/build-package.ts';
import { runMain } from '../command-line.ts';
import { buildMcpPackage } from './build-package.ts';

const HELP = 'npm run mcp   packs generated/charter-mcp-<version>.tgz, for npx\n';

await runMain({}, HELP, async () => {
  process.stdout.write(`${await packIntoGenerated('mcp', buildMcpPackage)}\n`);
});
