// A canary in everything that a run prints: no output holds a secret, except where the documentation says so.
import { appendFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { PASSWORD } from '../data/accounts.ts';
import { ENCRYPTION_KEY } from '../postgres/postgres.ts';

/** The forms of keys, of secrets of endpoints, and of tokens of sessions, links and forms. The last is the path of endpoints. */
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

/** They print keys and links for the person who runs them, and programs of the tests the URL of their database. */
const PRINT_SECRETS = /scripts\/(admin|mock)\b|charter\.mjs admin|test\/support\/|run-of-tests/;
/** The sign-ins of the demonstration and the commands with its key, which "Getting started" shows. */
const DEMONSTRATION = /northwind\.example|^ {4}(?:curl -H "Authorization|export CHARTER_URL)/;

/** Notes each line with a secret. The run fails at its end. */
export function watchOutput(command: string, { stdout = '', stderr = '' }: { stdout?: string; stderr?: string }): void {
  if (!SECRETS.test(stdout) && !SECRETS.test(stderr)) return;
  const lines = [...(PRINT_SECRETS.test(command) ? [] : stdout.split('\n')), ...stderr.split('\n')];
  const found = lines.filter((line) => SECRETS.test(line) && !DEMONSTRATION.test(line));
  const text = found.map((line) => `${JSON.stringify({ command, line })}\n`).join('');
  if (text !== '') appendFileSync(NOTES(), text);
}

const NOTES = () => join(process.env['CHARTER_TEST_FOLDER'] ?? '', 'secrets-in-outputs');

/** The lines with a secret that the processes of this run have printed. */
export async function printedSecrets(): Promise<string[]> {
  const text = await readFile(NOTES(), 'utf8').catch(() => '');
  return [...new Set(text.split('\n').filter((line) => line !== ''))];
}
