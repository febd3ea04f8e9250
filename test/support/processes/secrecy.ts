// Checks everything that a run prints. No output may contain a secret, except where the documentation says so.
import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PASSWORD } from '../data/accounts.ts';
import { ENCRYPTION_KEY } from '../postgres/postgres.ts';

/**
 * The patterns of the secrets that no output may contain: API keys, secrets and URLs of endpoints, tokens of sessions, links and
 * forms, and the encryption key and the password of the tests.
 */
const SECRETS = new RegExp(
  [
    'charter_(?:live|test)_(?:[a-z0-9]+_)?[0-9A-Za-z]{46}',
    'whsec_[A-Za-z0-9+/]{40}',
    '(?<![\\w/+-])[\\w-]{43}(?![\\w=/+-])',
    '/welcome/[\\w-]{20}',
    ENCRYPTION_KEY.replace(/[+/=]/g, '\\$&'),
    PASSWORD,
    '://[\\w.:-]+/hook',
  ].join('|'),
);

/**
 * Commands that may print secrets. Some commands print keys and links for the person who runs them. Programs of the tests print
 * the URL of their database.
 */
const PRINT_SECRETS = /scripts\/(admin|mock)\b|charter\.mjs admin|test\/support\/|run-of-tests/;
/**
 * Lines that may contain secrets of the demonstration: its sign-ins, and the commands with its key, as in the guide "Getting
 * started".
 */
const DEMONSTRATION = /northwind\.example|^ {4}(?:curl -H "Authorization|export CHARTER_URL)/;

/** Records each line with a secret, so that the run fails at its end. */
export function watchOutput(command: string, { stdout = '', stderr = '' }: { stdout?: string; stderr?: string }): void {
  if (!SECRETS.test(stdout) && !SECRETS.test(stderr)) return;
  const lines = [...(PRINT_SECRETS.test(command) ? [] : stdout.split('\n')), ...stderr.split('\n')];
  const found = lines.filter((line) => SECRETS.test(line) && !DEMONSTRATION.test(line));
  const text = found.map((line) => `${JSON.stringify({ command, line })}\n`).join('');
  if (text !== '') appendFileSync(NOTES(), text);
}

const NOTES = () => join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'secrets-in-outputs');

/** Returns the lines with a secret that the processes of this run have printed. */
export async function printedSecrets(): Promise<string[]> {
  const text = await readFile(NOTES(), 'utf8').catch(() => '');
  return [...new Set(text.split('\n').filter((line) => line !== ''))];
}
