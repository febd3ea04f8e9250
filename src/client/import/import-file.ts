import { stat } from 'node:fs/promises';
import process from 'node:process';
import { type CharterClient, createClient } from '../charter-client.ts';
import { PATIENT } from '../client.ts';
import { checkRows } from './check-rows.ts';
import { type Columns, columnsOf } from './columns.ts';
import { openCsv } from './csv-rows.ts';
import { ImportError } from './import-error.ts';
import { importRows } from './import-rows.ts';
import { type Options, SAME_FILE } from './options.ts';
import { Progress } from './progress.ts';
import { RefusedRows } from './refused-rows.ts';
import { SourceRows } from './source-rows.ts';
import { tellingFetch } from './telling-fetch.ts';

const GO_ON = 'Run the same command again to go on: rows that are imported already stay as they are.';

const PROBLEMS: Readonly<Record<number, string>> = {
  401: 'Charter refuses the API key',
  403: 'Charter refuses the API key',
  404: 'CHARTER_URL or --url is not the address of Charter',
};

/** Imports or checks the file, and tells the user. Returns whether every row was accepted. */
export async function importFile(options: Options, signal: AbortSignal): Promise<boolean> {
  const progress = new Progress();
  const { url: baseUrl, apiKey } = options;
  const charter = createClient({
    baseUrl,
    apiKey,
    fetch: tellingFetch(progress, { stopping: signal, advice: options.proxyAdvice }),
    ...PATIENT,
  });
  const tell = (words: string) => {
    progress.clear();
    process.stderr.write(`${words}\n`);
  };
  const { format, rows } = await openCsv(options.file, { ...options, warn: tell });
  const { value: first } = await rows.next();
  if (first === undefined) throw new ImportError(`${options.file} is empty.`);
  const header = first.cells;
  const columns = columnsOf(header, options.map);
  const refused = new RefusedRows(options.refused, { format, header, tell });
  await requireOtherFile(options);
  await refused.requirePlace();
  await requirePermissions(charter, signal);
  tellColumns(columns);
  const counts = { accepted: 0, created: 0 };
  const source = new SourceRows(rows, { columns, header, delimiter: format.delimiter, refused });
  try {
    const handled = options.isDryRun
      ? checkRows(charter, source.changes(), signal)
      : importRows(charter, source.changes(), signal);
    for await (const { accepted, created, refusals } of handled) {
      counts.accepted += accepted;
      counts.created += created;
      await refused.add(refusals.map((each) => ({ ...each, row: source.rowOf(each.change) })));
      progress.show(`${rowsIn(counts.accepted)}, ${thousands(refused.count)} refused`, source.share);
    }
  } catch (error) {
    progress.clear();
    if (!options.isDryRun && counts.accepted > 0)
      process.stderr.write(`Imported so far: ${rowsIn(counts.accepted)}. ${GO_ON}\n`);
    throw error;
  } finally {
    tellBlanks(source, tell);
    await refused.close();
    await rows.return();
  }
  await refused.removeEarlier();
  progress.clear();
  // Since the start of the process, because that includes every wait.
  const seconds = Math.max(1, Math.round(performance.now() / 1000));
  process.stdout.write(
    `${summaryOf({ ...counts, refused: refused.count }, options)} It took ${thousands(seconds)} s.\n`,
  );
  return refused.count === 0;
}

type Counts = { readonly accepted: number; readonly created: number; readonly refused: number };

function summaryOf({ accepted, created, refused }: Counts, options: Options): string {
  const rest = refused === 0 ? '0 refused' : `${thousands(refused)} refused: see ${options.refused}`;
  return options.isDryRun
    ? `Nothing was changed. ${rowsIn(accepted)} can be imported, ${rest}.`
    : `${rowsIn(created)} created, ${thousands(accepted - created)} replaced or unchanged, ${rest}.`;
}

async function requirePermissions(charter: CharterClient, signal: AbortSignal): Promise<void> {
  const key = await charter.GET('/api/key', { signal });
  if (!key.ok) {
    const problem = PROBLEMS[key.status] ?? 'Charter cannot import at the moment';
    throw new ImportError(`${problem} (${key.status}): ${key.error.message}`);
  }
  if (!key.data.permissions.includes('parent_programs:write'))
    throw new ImportError('The API key may not write. Create one with the permission parent_programs:write.');
}

function tellColumns({ ignored, missing }: Columns): void {
  const lines = [
    ...(ignored === '' ? [] : [`Ignored columns: ${ignored}.`]),
    ...(missing.length === 0 ? [] : [`Fields without a column, which become empty: ${missing.join(', ')}.`]),
  ];
  for (const line of lines) process.stderr.write(`${line}\n`);
}

function tellBlanks({ blanks: { count, first } }: SourceRows, tell: (words: string) => void): void {
  if (count === 0) return;
  const rows = count === 1 ? `In row ${first}` : `In ${rowsIn(count)}, the first of them row ${first}`;
  tell(`${rows}, external_id begins or ends with a blank, which is part of the ID. Is it a mistake?`);
}

/** Another name may lead to the file, too, such as that of a link. */
async function requireOtherFile({ file, refused }: Options): Promise<void> {
  const [one, other] = await Promise.all([file, refused].map((path) => stat(path).catch(() => null)));
  if (one && other && one.ino === other.ino && one.dev === other.dev && one.isFile()) throw new ImportError(SAME_FILE);
}

function rowsIn(count: number): string {
  return `${thousands(count)} ${count === 1 ? 'row' : 'rows'}`;
}

function thousands(count: number): string {
  return count.toLocaleString('en');
}
