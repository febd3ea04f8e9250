// One command for a whole move, for a process that reaches both databases. The databases say what has been done, so the command
// can be interrupted and repeated at any moment.
import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import { type Command, InvalidArgumentError } from 'commander';
import type { Config } from '../../src/config.ts';
import { readDatabaseUrl, readKeyring } from '../../src/config-values.ts';
import { SECRETS, variablesIn } from '../../src/config-variables.ts';
import { DomainError, memberOf, StartUpError } from '../../src/domain/errors.ts';
import { mintKey } from '../../src/domain/keys/api-key.ts';
import { commandLine } from '../../src/domain/release.ts';
import { connectToOther } from '../../src/postgres/connect.ts';
import { unknownKeyIn } from '../../src/service/authenticate.ts';
import {
  copyOrganization,
  type Ends,
  getMove,
  getStanding,
  handOver,
  requireMovable,
  type Standing,
  undoMove,
  withTurn,
} from '../../src/service/operator/moves.ts';
import { listDomainsOfCell, listKeysOfOtherCells } from '../../src/store/organizations/cells.ts';
import type { Database } from '../../src/store/sql/database.ts';
import { fileError, writeWhole } from './archive-commands.ts';
import { type Context, parseUuid } from './context.ts';

/** How long HAProxy may take to use a new map. */
const VERIFY_SECONDS = 15;
const VERIFY_INTERVAL_MS = 200;
const RESPONSE_MS = 5000;
/** The variables with secrets, which the commands of --reload do not get. */
const SECRET_VARIABLES = [...SECRETS, 'MOVE_TO_DATABASE_URL', 'MOVE_TO_ENCRYPTION_KEY'];

type Options = {
  readonly id: string;
  readonly toCell?: string;
  readonly map: readonly string[];
  readonly domainMap: readonly string[];
  readonly reload: readonly string[];
  readonly verifyUrl?: string;
  readonly undo?: true;
};

type Results = { rows?: number; revocations?: number };

export function addMoveCommand(program: Command, context: Context): void {
  const collect = (text: string, earlier: readonly string[]) => [...earlier, text];
  program
    .command('move-organization')
    .description(
      'move an organization to the database in MOVE_TO_DATABASE_URL; repeat it to go on after an interruption',
    )
    .requiredOption('--id <uuid>', "the organization's id", parseUuid)
    .option('--to-cell <name>', 'the cell of the other database, if these installations are cells')
    .option('--map <path>', 'a map of moved keys of HAProxy, which gets the new cell; can be repeated', collect, [])
    .option(
      '--domain-map <path>',
      'a file of CHARTER_CELL_DOMAINS, which gets the new cell; can be repeated',
      collect,
      [],
    )
    .option('--reload <command>', 'is run after the maps have changed; can be repeated', collect, [])
    .option('--verify-url <url>', 'the common address, which must use the map; default: COMMON_URL', parseOrigin)
    .option('--undo', 'before the new installation serves the organization: delete its copy, and serve it here again')
    .action((options: Options, command: Command) => {
      const problem = checkOptions(options, context.config);
      if (problem !== null) return command.error(`error: ${problem}`);
      return context.execute((from) => moveBetween(from, options, context), { databasePoolSize: 2 });
    });
}

function parseOrigin(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url === null || !/^https?:$/.test(url.protocol) || url.href !== `${url.origin}/`)
    throw new InvalidArgumentError('Give an origin, such as https://charter.example.org.');
  return url.origin;
}

/** Returns why the options are refused; `null` if they are not. */
function checkOptions({ toCell, map, domainMap, reload, verifyUrl }: Options, { cell, cells }: Config): string | null {
  const hasMaps = map.length + domainMap.length > 0;
  if (toCell === undefined) {
    if (hasMaps) return '--map and --domain-map need --to-cell, the name of the cell to which the organization moves.';
    if (reload.length > 0) return '--reload needs --map or --domain-map: it runs after a map has changed.';
    return verifyUrl === undefined
      ? null
      : '--verify-url needs --map and --to-cell: it checks that HAProxy uses the map.';
  }
  if (cell === null) return '--to-cell needs CHARTER_CELL, the name of the cell that the organization leaves.';
  if (toCell === cell)
    return `--to-cell is ${toCell}, which is this cell. Give the cell to which the organization moves.`;
  if (cells.length > 0 && !cells.some(({ name }) => name === toCell))
    return `--to-cell is ${toCell}, which CHARTER_CELLS does not contain.`;
  if (!hasMaps) return '--to-cell needs --map, the map of moved keys that gets the new cell.';
  return verifyUrl !== undefined && map.length === 0
    ? '--verify-url needs --map: it checks that HAProxy uses it.'
    : null;
}

async function moveBetween(from: Database, options: Options, context: Context): Promise<object> {
  const { env, config } = context;
  const variable = variablesIn(env);
  const url = readDatabaseUrl('MOVE_TO_DATABASE_URL', variable('MOVE_TO_DATABASE_URL'));
  if (url === undefined)
    throw new StartUpError(
      'MOVE_TO_DATABASE_URL is missing.',
      'Set it to the URL of the database to which the organization moves, such as postgresql://user:password@host:5432/charter.',
    );
  const keyring = readKeyring(variable('MOVE_TO_ENCRYPTION_KEY'), 'MOVE_TO_ENCRYPTION_KEY') ?? config.keyring;
  const to = await connectToOther(url, { keyring, dataDir: config.dataDir });
  try {
    return await withTurn(from, options.id, () =>
      options.undo === true ? undo({ from, to }, options.id, context) : move({ from, to }, options, context),
    );
  } finally {
    await to.close();
  }
}

async function undo(ends: Ends, id: string, { warn }: Context): Promise<object> {
  say(warn, 'Deleting the copy, if there is one, and ending the move.');
  await undoMove(ends, id);
  return { move_undone: id, note: 'This installation serves the organization again. What was revoked stays revoked.' };
}

async function move(ends: Ends, options: Options, context: Context): Promise<object> {
  const { id } = options;
  const { warn } = context;
  const standing = await getStanding(ends, id);
  const results: Results = {};
  const route = () => changeRoute(ends, options, context);
  say(warn, STANDINGS[standing]);
  try {
    if (standing === 'not started') {
      await requireMovable(ends, id);
      // Tries the maps, the reload and the common address while requests are still served.
      await route();
    }
    if (standing === 'not started' || standing === 'started') {
      say(warn, 'Copying the organization. Its requests get 503 now.');
      const { rows } = await copyOrganization(ends, id);
      results.rows = [...rows.values()].reduce((total, count) => total + count, 0);
      say(warn, `Copied ${results.rows} rows: their number and their checksum are right.`);
    }
    if (standing !== 'moved') {
      say(warn, 'Handing over.');
      results.revocations = (await handOver(ends, id)).revocations;
      say(warn, `The new installation serves the organization. Revocations carried over: ${results.revocations}.`);
    }
    const isRouted = await route();
    const { name, seconds } = await getMove(ends.from, id);
    const outage = standing === 'moved' ? {} : { outage_seconds: Number(seconds.toFixed(1)) };
    return { organization_id: id, name, ...results, ...outage, next: nextOf({ id, name, isRouted }) };
  } catch (error) {
    const after = await getStanding(ends, id).catch(() => null);
    const isUndoable = after === 'started' || after === 'copied';
    warn(`${after === null ? '' : `${STANDINGS[after]} `}${REPEAT}${isUndoable ? ', or add --undo.' : '.'}`);
    throw error;
  }
}

const STANDINGS: Record<Standing, string> = {
  'not started': 'The move has not started: this installation serves the organization.',
  started: 'The move has started, and nothing is copied. Requests of the organization get 503.',
  copied: 'The organization is copied, and not served. Its requests get 503.',
  moved: 'The new installation serves the organization.',
};
const REPEAT = 'Repeat this command: it goes on from there';

function nextOf({ id, name, isRouted }: { id: string; name: string; isRouted: boolean }): string {
  const send = isRouted ? '' : 'Send the requests of the organization to its new installation. ';
  return `${send}Once a backup of the new installation contains the organization, run ${commandLine('admin')} delete-organization --id ${id} --name ${JSON.stringify(name)} here.`;
}

function say(warn: Context['warn'], text: string): void {
  warn(`${new Date().toISOString().slice(11, 21)}  ${text}`);
}

/**
 * Writes the maps, reloads HAProxy, and waits until the common address uses the map. Returns `false` if there is no map of keys.
 * The map contains a key that no installation has: the cell that refuses the key names itself.
 */
async function changeRoute({ from, to }: Ends, options: Options, { config, env, warn }: Context): Promise<boolean> {
  const { toCell, map, domainMap, reload, verifyUrl = config.commonUrl } = options;
  const { cell } = config;
  if (toCell === undefined || cell === null) return false;
  const probe = mintKey(config.environment, cell);
  for (const path of map) {
    const count = await mergeMap(path, [
      { cell, texts: listKeysOfOtherCells(from, cell) },
      { cell: toCell, texts: listKeysOfOtherCells(to, toCell) },
      { cell: toCell, texts: [[probe.hash.toString('hex')]] },
    ]);
    say(warn, `Wrote ${path}: ${count} lines.`);
  }
  for (const path of domainMap) {
    const count = await mergeMap(path, [
      { cell, texts: listDomainsOfCell(from) },
      { cell: toCell, texts: listDomainsOfCell(to) },
    ]);
    say(warn, `Wrote ${path}: ${count} lines.`);
  }
  for (const command of reload) {
    await runReload(command, { env, warn });
    say(warn, `Ran ${command}`);
  }
  if (map.length > 0 && verifyUrl !== undefined) {
    await requireRoute(verifyUrl, { key: probe.key, toCell });
    say(warn, `${verifyUrl} sends moved keys to ${toCell}.`);
  }
  return map.length > 0;
}

type Lines = { readonly cell: string; readonly texts: AsyncIterable<readonly string[]> | Iterable<readonly string[]> };

/** Replaces the lines of these cells in a map, and keeps those of all other cells. Returns the number of lines. */
async function mergeMap(path: string, lines: readonly Lines[]): Promise<number> {
  const [text, like] = await Promise.all([readFile(path, 'utf8'), stat(path)]).catch((error: unknown) => {
    throw fileError(error, path);
  });
  const replaced = new Set(lines.map(({ cell }) => cell));
  const kept = text.split('\n').filter((line) => line !== '' && !replaced.has(line.split(' ')[1] ?? ''));
  return writeWhole(path, { isExclusive: false, like }, async ({ write, publish }) => {
    let count = 0;
    const writeLines = async (added: readonly string[]) => {
      await write(added.map((line) => `${line}\n`).join(''));
      count += added.length;
    };
    await writeLines(kept);
    for (const { cell, texts } of lines)
      for await (const chunk of texts) await writeLines(chunk.map((each) => `${each} ${cell}`));
    await publish();
    return count;
  });
}

/** Runs a command of the operator in a shell, without the variables that contain secrets. */
async function runReload(command: string, { env, warn }: Pick<Context, 'env' | 'warn'>): Promise<void> {
  const open = Object.fromEntries(Object.entries(env).filter(([name]) => !SECRET_VARIABLES.includes(name)));
  const child = spawn(command, { shell: true, env: open, stdio: ['ignore', 'pipe', 'pipe'] });
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => warn(text.trimEnd()));
  const end = await new Promise<string>((resolve) => {
    child.once('error', ({ message }) => resolve(message));
    child.once('close', (code, signal) => resolve(code === 0 ? '' : `exit code ${code ?? signal}`));
  });
  if (end !== '')
    throw new DomainError(
      'unavailable',
      `The command of --reload failed (${end}): ${command}. Correct it, and repeat.`,
    );
}

/** Throws unless requests with the key reach the cell. No installation has this key, and the refusal names the cell. */
async function requireRoute(url: string, { key, toCell }: { key: string; toCell: string }): Promise<void> {
  const expected = unknownKeyIn(toCell, key).message;
  const deadline = performance.now() + VERIFY_SECONDS * 1000;
  for (;;) {
    const response = await fetchMessage(`${url}/api/key`, key);
    if (response === expected) return;
    if (performance.now() > deadline)
      throw new DomainError(
        'unavailable',
        `${url} does not send moved keys to the cell ${toCell} within ${VERIFY_SECONDS} seconds: ${response} Check that HAProxy reads the files of --map, that --reload reloads it, and that ${toCell} is ready.`,
      );
    await delay(VERIFY_INTERVAL_MS);
  }
}

/** Returns the message of the response to a request with the key, or why there is none. */
async function fetchMessage(url: string, key: string): Promise<string> {
  try {
    const headers = { authorization: `Bearer ${key}` };
    const response = await fetch(url, { headers, redirect: 'manual', signal: AbortSignal.timeout(RESPONSE_MS) });
    const message = memberOf(await response.json().catch(() => null), 'message');
    return typeof message === 'string' ? message : `The response has status ${response.status}.`;
  } catch (error) {
    const cause = memberOf(memberOf(error, 'cause'), 'code');
    return `There is no response (${typeof cause === 'string' ? cause : 'the request failed'}).`;
  }
}
