// The package charter-mcp, as npx installs and runs it from a server for a program with a language model.
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { getDefaultEnvironment, StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { publint } from 'publint';
import { pack } from '../../scripts/client/build-package.ts';
import { buildMcpPackage } from '../../scripts/mcp/build-package.ts';
import { operations } from '../support/contract/contract.ts';
import { openFolder, useFolder } from '../support/folder.ts';
import { createTestOrganization, useServer } from '../support/servers/server.ts';

const run = promisify(execFile);
const server = await useServer();
const folder = await useFolder();
const tarball = await packMcp();
// npx keeps what it has installed, so this test uses a cache of its own.
const env = {
  ...getDefaultEnvironment(),
  npm_config_cache: join(folder, 'cache'),
  npm_config_update_notifier: 'false',
};
const address = `${server.url}/charter-mcp.tgz`;

async function packMcp(): Promise<Buffer> {
  await using scratch = await openFolder();
  await buildMcpPackage(join(scratch.path, 'mcp'));
  return readFile(await pack(join(scratch.path, 'mcp'), scratch.path));
}

test('it is small, identical every time that it is packed, and passes publint', async () => {
  expect(tarball.length).toBeLessThan((100 + 5 * operations.length) * 1024);
  expect((await packMcp()).equals(tarball)).toBe(true);
  expect((await publint({ pack: { tarball: Uint8Array.from(tarball).buffer }, strict: true })).messages).toEqual([]);
});

test('npx runs it from the address of a server, and its tools read and write', async () => {
  const { key } = await createTestOrganization(server);
  const transport = new StdioClientTransport({
    command: 'npx',
    args: ['--yes', address],
    cwd: folder,
    env: { ...env, CHARTER_URL: server.url, CHARTER_API_KEY: `${key}\n` },
    stderr: 'pipe',
  });
  let printed = '';
  transport.stderr?.on('data', (chunk) => {
    printed += String(chunk);
  });
  const client = new Client({ name: 'test', version: '1.0.0' });
  await client.connect(transport);
  const { tools } = await client.listTools();
  expect(tools.map(({ name }) => name)).toContain('createParentProgram');
  const body = { name: 'By a tool' };
  const created = await client.callTool({ name: 'createParentProgram', arguments: { body } });
  expect(created.structuredContent).toMatchObject({ status: 201, body });
  const listed = await client.callTool({ name: 'listParentPrograms' });
  expect(listed.structuredContent).toMatchObject({ body: { data: [body] } });
  await client.close();
  expect(printed).toBe('');
});

test('it prints its help and its version, and names a variable that is missing or wrong, without its value', async () => {
  const { info } = JSON.parse(await readFile(join(import.meta.dirname, '../../generated/openapi.json'), 'utf8'));
  expect((await run('npx', ['--yes', `${address}?${info.version}`, '--version'], { cwd: folder, env })).stdout).toBe(
    `${info.version}\n`,
  );
  expect((await run('npx', ['--yes', address, '--help'], { cwd: folder, env })).stdout).toMatch(
    /^Usage: charter-mcp\n.+CHARTER_API_KEY/s,
  );
  const CHARTER_URL = server.url;
  for (const [variables, message] of [
    [{}, 'CHARTER_URL must be an absolute URL, such as https://charter.example.org.'],
    [{ CHARTER_URL: `${CHARTER_URL}?secret` }, 'CHARTER_URL must end before any query or fragment, such as'],
    [{ CHARTER_URL }, 'CHARTER_API_KEY is missing or empty.'],
    [{ CHARTER_URL, CHARTER_API_KEY: 'the secret' }, 'CHARTER_API_KEY is not an API key:'],
  ] as const) {
    const failing = run('npx', ['--yes', address], { cwd: folder, env: { ...env, ...variables } });
    const { code, stderr } = await failing.then(() => ({ code: 0, stderr: '' }), Object);
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('secret');
  }
});
