import type { Command } from 'commander';
import { listVariables } from '../../src/config.ts';
import { findUnknownVariables } from '../../src/config-variables.ts';
import { listPendingMigrations } from '../../src/postgres/connect.ts';
import type { Context } from './context.ts';

/** Adds the commands for the configuration and the tables of an installation. */
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
}
