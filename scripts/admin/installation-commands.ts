import type { Command } from 'commander';
import { listVariables } from '../../src/config.ts';
import { findUnknownVariables } from '../../src/config-variables.ts';
import { directUrlOf, listPendingMigrations } from '../../src/postgres/connect.ts';
import { readEncryptionKeyFile } from '../../src/postgres/encryption-key-file.ts';
import { verifyDump } from '../../src/postgres/verify-dump.ts';
import type { Context } from './context.ts';

/** Adds the commands for the configuration, the tables and the dumps of an installation. */
export function addInstallationCommands(program: Command, { config, env, execute, print, warn }: Context): void {
  program
    .command('check')
    .description('check the environment variables without a database, and name unknown ones that look like ours')
    .action(() => {
      // Invalid variables have already been refused.
      const unknown = findUnknownVariables(env, listVariables());
      for (const { name, similar } of unknown)
        warn(`${name} is unknown, and ignored.${similar === null ? '' : ` Did you mean ${similar}?`}`);
      print({ configuration: 'valid', unknown_variables: unknown.length });
    });

  program
    .command('list-pending-migrations')
    .description('list the migrations that the start of a server would apply, and apply none')
    .action(async () => {
      const pending = await listPendingMigrations(config);
      print({ pending: pending.length, ...(pending.length > 0 && { migrations: pending.map((name) => ({ name })) }) });
    });

  program
    .command('migrate')
    .description('apply the pending migrations, as the start of a server does')
    .action(() => execute(async () => ({ migrations: 'all applied' })));

  program
    .command('verify-dump')
    .description('restore a dump into a scratch database, count its rows, decrypt secrets, and drop the database')
    .requiredOption('--file <path>', 'a dump in the custom format of pg_dump')
    .action(async ({ file }: { file: string }, command: Command) => {
      const { url, variable } = directUrlOf(config);
      if (url === undefined) return command.error('error: DATABASE_URL is not set, which names the PostgreSQL to use');
      const keyring = config.keyring ?? (await readEncryptionKeyFile(config.dataDir));
      if (keyring === null) return command.error('error: ENCRYPTION_KEY is not set, so no secret can be decrypted');
      const { parentPrograms, apiKeys, ...verified } = await verifyDump(file, { url, variable, keyring });
      print({ verified_dump: file, ...verified, parent_programs: parentPrograms, api_keys: apiKeys });
    });
}
