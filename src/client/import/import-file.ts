import { stat } from 'node:fs/promises';
import process from 'node:process';
import { cutIntoBatches, MAX_CHANGES, Pace } from '../batching.ts';
import { type CharterClient, createClient, ResponseError, type Result, type Schemas } from '../charter-client.ts';
import { PATIENT } from '../client.ts';
import { realClock } from '../sending.ts';
import { openCsv } from './csv.ts';
import { deleteMissing, listMissing, programsIn, requireFewMissing, thousands } from './missing-programs.ts';
import { ImportError, type Options, PATH, SAME_FILE, type Upsert } from './options.ts';
import { createTellingFetch, Progress } from './progress.ts';
import { layoutOf, RefusedRows } from './refused-rows.ts';
import { type Columns, columnsOf, SourceRows } from './source-rows.ts';

const GO_ON = 'Run the same command again to go on: rows that are imported already stay as they are.';

const PROBLEMS: Readonly<Record<number, string>> = {
  401: 'Charter refuses the API key',
  403: 'Charter refuses the API key',
  404: 'CHARTER_URL or --url is not the address of Charter',
};

/** Imports or checks the file, and prints the result. Returns whether all rows were accepted. */
export async function importFile(options: Options, signal: AbortSignal): Promise<boolean> {
  const progress = new Progress();
  const { url: baseUrl, apiKey } = options;
  const charter = createClient({
    baseUrl,
    apiKey,
    fetch: createTellingFetch(progress, { stopping: signal, advice: options.proxyAdvice }),
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
  if (options.deletesMissing) requireWhole(header, options.file);
  const columns = columnsOf(header, options.map);
  const refused = new RefusedRows(options.refused, { format, header, tell });
  await requireOtherFile(options);
  await refused.requirePlace();
  await requirePermissions(charter, options, signal);
  tellColumns(columns);
  const counts = { accepted: 0, created: 0 };
  const source = new SourceRows(rows, { columns, header, delimiter: format.delimiter, refused });
  try {
    const handled = options.isDryRun
      ? tryRows(charter, source.changes(), signal)
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
  // performance.now() counts from the start of the process, so the time includes every wait.
  const seconds = Math.max(1, Math.round(performance.now() / 1000));
  process.stdout.write(
    `${summaryOf({ ...counts, refused: refused.count }, options)} It took ${thousands(seconds)} s.\n`,
  );
  const isWhole = refused.count === 0;
  if (options.deletesMissing && isWhole) await removeMissing(charter, source, { options, progress, signal });
  else if (options.deletesMissing)
    tell('Nothing was deleted, because rows were refused. Correct them in the file, and run the same command again.');
  return isWhole;
}

/** Deletes the parent programs that the file does not contain, or lists them in a dry run, and prints the result. */
async function removeMissing(
  charter: CharterClient,
  source: SourceRows,
  { options, progress, signal }: { options: Options; progress: Progress; signal: AbortSignal },
): Promise<void> {
  progress.show('looking for parent programs that are not in the file …', undefined);
  let deleted = 0;
  try {
    const missing = await listMissing(charter, (externalId) => source.has(externalId), signal);
    progress.clear();
    if (options.isDryRun)
      for (const { externalId, name } of missing.programs)
        process.stdout.write(`Not in the file: ${JSON.stringify(externalId)}, ${JSON.stringify(name)}\n`);
    requireFewMissing(missing, options.deleteAtMost);
    if (options.isDryRun)
      return void process.stdout.write(`${programsIn(missing.programs.length)} would be deleted.\n`);
    const count = (more: number) => {
      deleted += more;
      progress.show(`${programsIn(deleted)} deleted`, deleted / missing.programs.length);
    };
    await deleteMissing(charter, missing, { signal, count });
  } catch (error) {
    progress.clear();
    if (deleted > 0) process.stderr.write(`Deleted so far: ${programsIn(deleted)}. ${GO_ON}\n`);
    throw error;
  }
  progress.clear();
  process.stdout.write(`${programsIn(deleted)} deleted.\n`);
}

/** Throws if the file is a report of refused rows, because the report has only a part of the rows. */
function requireWhole(header: readonly string[], file: string): void {
  if (layoutOf(header).message === undefined) return;
  throw new ImportError(
    `${file} is a report of refused rows, and does not contain the others, which --delete-missing would delete. Import it without --delete-missing.`,
    { isMisuse: true },
  );
}

type Counts = { readonly accepted: number; readonly created: number; readonly refused: number };

function summaryOf({ accepted, created, refused }: Counts, options: Options): string {
  const rest = refused === 0 ? '0 refused' : `${thousands(refused)} refused: see ${options.refused}`;
  return options.isDryRun
    ? `Nothing was changed. ${rowsIn(accepted)} can be imported, ${rest}.`
    : `${rowsIn(created)} created, ${thousands(accepted - created)} replaced or unchanged, ${rest}.`;
}

async function requirePermissions(
  charter: CharterClient,
  { deletesMissing }: Options,
  signal: AbortSignal,
): Promise<void> {
  const key = await charter.GET('/api/key', { signal });
  if (!key.ok) {
    const problem = PROBLEMS[key.status] ?? 'Charter cannot import at the moment';
    throw new ImportError(`${problem} (${key.status}): ${key.error.message}`);
  }
  if (!key.data.permissions.includes('parent_programs:write'))
    throw new ImportError('The API key may not write. Create one with the permission parent_programs:write.');
  if (deletesMissing && !key.data.permissions.includes('parent_programs:read'))
    throw new ImportError('With --delete-missing, the API key also needs the permission parent_programs:read.');
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

/**
 * Throws if both paths lead to the same file. Compares the files, not the paths, because the file may have a second name (a
 * link).
 */
async function requireOtherFile({ file, refused }: Options): Promise<void> {
  const [one, other] = await Promise.all([file, refused].map((path) => stat(path).catch(() => null)));
  if (one && other && one.ino === other.ino && one.dev === other.dev && one.isFile()) throw new ImportError(SAME_FILE);
}

function rowsIn(count: number): string {
  return `${thousands(count)} ${count === 1 ? 'row' : 'rows'}`;
}

/** What the import did with the rows of a batch. */
export type Handled = {
  /** The number of rows that were not refused. */
  readonly accepted: number;
  /**
   * The number of accepted rows that created a parent program. The other accepted rows replaced a parent program or left it
   * unchanged.
   */
  readonly created: number;
  readonly refusals: readonly {
    readonly change: object;
    readonly status: number | undefined;
    readonly message: string;
  }[];
};

async function* importRows(
  charter: CharterClient,
  changes: AsyncIterable<Upsert>,
  signal: AbortSignal,
): AsyncGenerator<Handled, void, void> {
  for await (const { outcomes } of charter.batch(PATH, changes, { signal })) {
    yield {
      accepted: outcomes.filter(({ exception }) => exception === null).length,
      created: outcomes.filter(({ status }) => status === 201).length,
      refusals: outcomes.flatMap(({ change, status, exception }) =>
        exception === null ? [] : [{ change, status, message: exception.message }],
      ),
    };
  }
}

/**
 * A change that the server always refuses, because no parent program has this id. If an atomic batch contains this change, the
 * batch therefore changes nothing.
 */
const IMPOSSIBLE = { action: 'delete', id: '00000000-0000-0000-0000-000000000000' } as const;

/** Checks every change without making it. The server checks each batch as usual, but refuses the batch as a whole. */
async function* tryRows(
  charter: CharterClient,
  changes: AsyncIterable<Upsert>,
  signal: AbortSignal,
): AsyncGenerator<Handled, void, void> {
  const pace = new Pace(realClock);
  for await (const batch of cutIntoBatches(changes, { maxChanges: MAX_CHANGES - 1 }))
    yield* tryBatch(charter, batch, { pace, signal });
}

async function* tryBatch(
  charter: CharterClient,
  batch: readonly Upsert[],
  sending: { readonly pace: Pace; readonly signal: AbortSignal },
): AsyncGenerator<Handled, void, void> {
  const { pace, signal } = sending;
  const body: Schemas['ParentProgramBatch'] = { atomic: true, changes: [...batch, IMPOSSIBLE] };
  await pace.ready(signal);
  const result = await charter.POST(`${PATH}/batch`, { body, signal });
  pace.noteResponse(result.headers);
  const refused = refusalsOf(result, batch.length);
  if (refused !== null) yield handledOf(batch, refused);
  else {
    const half = Math.ceil(batch.length / 2);
    yield* tryBatch(charter, batch.slice(0, half), sending);
    yield* tryBatch(charter, batch.slice(half), sending);
  }
}

type Refused = ReadonlyMap<number, { readonly status: number; readonly message: string }>;

/** Returns the refused changes by their index. Returns `null` if the batch must be checked in smaller parts. */
function refusalsOf(result: Result<`${typeof PATH}/batch`, 'post'>, count: number): Refused | null {
  switch (result.status) {
    case 413:
      return count > 1 ? null : new Map([[0, { status: result.status, message: result.error.message }]]);
    case 409:
    case 412:
    case 422: {
      const refused = refusalsByPlace(result.error.errors ?? {}, result.status);
      // A response contains a limited number of errors. If the error about the last change is missing, errors about other changes
      // may be missing, too.
      return refused.has(count) || count === 1 ? refused : null;
    }
    case 200:
      throw new Error('Charter made a change that is impossible.');
    default:
      throw new ResponseError(`POST ${PATH}/batch`, result);
  }
}

/** Returns the refusals by the index of the change. The index is in the name of the error: "changes.3" is the fourth change. */
function refusalsByPlace(errors: Readonly<Record<string, readonly string[]>>, status: number): Refused {
  const found = new Map<number, { status: number; message: string }>();
  for (const [name, messages] of Object.entries(errors)) {
    const [, place = '', field = ''] = /^changes\.(\d+)\.?(.*)$/s.exec(name) ?? [];
    const known = found.get(Number(place))?.message ?? '';
    const said = messages.map((message) => `${field} ${message}`.trim());
    found.set(Number(place), { status, message: [known, ...said].join(' ').trim() });
  }
  return found;
}

function handledOf(batch: readonly Upsert[], refused: Refused): Handled {
  const refusals = batch.flatMap((change, place) => {
    const found = refused.get(place);
    return found === undefined ? [] : [{ change, ...found }];
  });
  return { accepted: batch.length - refusals.length, created: 0, refusals };
}
