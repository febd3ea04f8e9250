// The operator's commands for a whole installation: organizations, users and keys.
import { Console } from 'node:console';
import { Command, CommanderError } from 'commander';
import { type Config, readConfig } from '../../src/config.ts';
import { DomainError, MovingError, StartUpError } from '../../src/domain/errors.ts';
import { commandLine, IS_RELEASE, RELEASE_VERSION } from '../../src/domain/release.ts';
import { connect, directUrlOf } from '../../src/postgres/connect.ts';
import { isOutage } from '../../src/store/sql/database-errors.ts';
import { addArchiveCommands } from './archive-commands.ts';
import { addCellCommands } from './cell-commands.ts';
import type { Execute } from './context.ts';
import { addInstallationCommands } from './installation-commands.ts';
import { addKeyCommands } from './key-commands.ts';
import { addMoveCommand } from './move-command.ts';
import { addOrganizationCommands, addUserCommands } from './organization-commands.ts';
import { addSingleSignOnCommands } from './single-sign-on-commands.ts';

const COMMANDS = [
  addOrganizationCommands,
  addSingleSignOnCommands,
  addArchiveCommands,
  addMoveCommand,
  addUserCommands,
  addKeyCommands,
  addCellCommands,
  addInstallationCommands,
];

/** What a command uses in place of the globals of its process. */
type Surroundings = {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: NodeJS.WritableStream;
  readonly stderr: NodeJS.WritableStream;
};

/**
 * Runs a command and returns its exit code. If the operator can fix an error, prints its message and returns 1. Throws all other
 * errors, which are bugs.
 */
export async function runAdmin(parameters: readonly string[], surroundings: Surroundings): Promise<number> {
  try {
    const config = readConfig(surroundings.env);
    await createProgram(config, surroundings).parseAsync(parameters, { from: 'user' });
    return 0;
  } catch (error) {
    // Commander has already printed the error.
    if (error instanceof CommanderError) return error.exitCode;
    surroundings.stderr.write(`${messageOf(error)}\n`);
    return 1;
  }
}

/** Returns the message of an error that the operator can fix. Throws other errors. */
function messageOf(error: unknown): string {
  if (error instanceof StartUpError) return `${error.message} ${error.remedy}`;
  if (error instanceof MovingError)
    return 'The organization is moving to another database, or has moved there. Run this command there. If it was imported nowhere, run cancel-move here first. If its deletion was interrupted, run delete-organization again.';
  if (error instanceof DomainError) return error.message;
  if (isOutage(error)) return 'The database does not answer. Try again in a moment.';
  throw error;
}

function createProgram(config: Config, { env, stdout, stderr }: Surroundings): Command {
  const program = new Command(commandLine('admin'))
    .version(RELEASE_VERSION)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void stdout.write(text),
      writeErr: (text) => void stderr.write(text),
    })
    .description('Administers an installation of Charter, in the database of the server: DATABASE_URL or DATA_DIR.')
    .option(
      '--json',
      `print one JSON object instead of lines${IS_RELEASE ? '' : '; call it as npm run --silent admin -- --json'}`,
    )
    .showHelpAfterError('Add --help to see what it takes.')
    .configureHelp({ showGlobalOptions: true });
  const print = (result: object) =>
    printResult(result, { isJson: program.opts<{ json?: true }>().json === true, stdout });
  const warn = (message: string) => void stderr.write(`${message}\n`);
  const execute: Execute = async (work, { replacesUnusedKeys = false, databasePoolSize = 1 } = {}) => {
    // The connection must be direct, because a command may hold a session lock over several transactions, which PgBouncer does
    // not allow. `databaseDirectUrl` stays set, so that a connection error names the variable that contains the URL.
    const { url: databaseUrl } = directUrlOf(config);
    const choice = { ...config, databaseUrl, databasePoolSize, replacesUnusedKeys };
    const { db, problems, migrated, leave } = await connect(choice, () => {});
    for (const { name, milliseconds } of migrated.isNew ? [] : migrated.applied)
      warn(`Applied the migration ${name} in ${milliseconds} ms.`);
    for (const problem of problems) warn(problem);
    try {
      print(await work(db));
    } finally {
      await leave();
    }
  };
  const context = { config, env, execute, print, warn };
  for (const add of COMMANDS) add(program, context);
  return program;
}

function printResult(result: object, { isJson, stdout }: { isJson: boolean; stdout: NodeJS.WritableStream }): void {
  const output = new Console(stdout);
  if (isJson) output.log(JSON.stringify(result));
  for (const [name, value] of isJson ? [] : Object.entries(result)) {
    if (Array.isArray(value) && typeof value[0] === 'object') output.table(value);
    else output.log(`${name.replaceAll('_', ' ')}: ${value instanceof Date ? value.toISOString() : (value ?? 'none')}`);
  }
}
