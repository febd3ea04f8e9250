#!/usr/bin/env node
// Imports a CSV file into the parent programs of an organization.
import process from 'node:process';
import { NetworkError, TimeoutError } from '../errors.ts';
import { importFile } from './import-file.ts';
import { HELP, ImportError, readOptions } from './options.ts';

const STOPPED = new ImportError('The import was stopped.');
const NO_RESPONSE = '. Check that the server is running, and that CHARTER_URL or --url is its address.';
const [PARTLY_REFUSED, MISUSED, INTERRUPTED] = [1, 2, 130];

const stopping = new AbortController();
process.once('SIGINT', () => stopping.abort(STOPPED));

try {
  const options = readOptions(process.argv.slice(2), process.env);
  if (options === 'help') process.stdout.write(HELP);
  else if (!(await importFile(options, stopping.signal))) process.exitCode = PARTLY_REFUSED;
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  const hasNoResponse = error instanceof NetworkError || error instanceof TimeoutError;
  process.stderr.write(`${message}${hasNoResponse ? NO_RESPONSE : ''}\n`);
  process.exitCode = exitCodeOf(error);
}

function exitCodeOf(error: unknown): number {
  if (stopping.signal.aborted) return INTERRUPTED;
  return error instanceof ImportError && error.isMisuse ? MISUSED : PARTLY_REFUSED;
}
