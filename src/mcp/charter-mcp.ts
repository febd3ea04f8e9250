#!/usr/bin/env node
// An MCP server: it offers the operations of the contract to programs with a language model (Model Context Protocol).
import process from 'node:process';
import { parseArgs } from 'node:util';
import { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import document from '#generated/openapi.json' with { type: 'json' };
import { realClock } from '../client/sending.ts';
import { readBaseUrl, readSettings, requireApiKey, type Settings } from '../client/settings.ts';
import { createMcpServer } from './server.ts';

const HELP = `Usage: charter-mcp

Offers the operations of Charter's API as tools of the Model Context Protocol, on standard input and output. Programs
with a language model start it; README.md has the lines for their configuration.

It offers the operations that the API key permits: a key that may only read offers no tool that writes. It sends requests
to CHARTER_URL, and to nothing else.

Environment variables:
  CHARTER_URL      the address of Charter, such as https://charter.example.org
  CHARTER_API_KEY  the API key

  --version  show the version, which is that of the contract
  --help     show this help
`;

/** The time limit of a call. It is below 60 seconds, after which MCP clients usually give up. */
const TOTAL_TIMEOUT_MS = 50_000;
const MISUSED = 2;

try {
  const { values } = parseArgs({ options: { help: { type: 'boolean' }, version: { type: 'boolean' } } });
  if (values.help) process.stdout.write(HELP);
  else if (values.version) process.stdout.write(`${document.info.version}\n`);
  else await createMcpServer(document, readEnvironment(process.env), realClock).connect(new StdioServerTransport());
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error} See charter-mcp --help.\n`);
  process.exitCode = MISUSED;
}

/**
 * Returns the settings in the environment variables. Throws an error if a variable is missing or invalid. The message never
 * contains a value.
 */
function readEnvironment({ CHARTER_URL, CHARTER_API_KEY }: NodeJS.ProcessEnv): Settings {
  // A variable that was filled from a file often ends with the file's line break.
  const baseUrl = readBaseUrl(CHARTER_URL?.trim(), 'CHARTER_URL');
  const apiKey = requireApiKey(CHARTER_API_KEY?.trim(), 'CHARTER_API_KEY');
  return readSettings({ baseUrl, apiKey, totalTimeoutMs: TOTAL_TIMEOUT_MS });
}
