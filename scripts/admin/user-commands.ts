import type { Command } from 'commander';
import { resetSecondFactorByEmail } from '../../src/service/operator/users.ts';
import { type Context, linkFor } from './context.ts';

export function addUserCommands(program: Command, { config, execute }: Context): void {
  program
    .command('make-link')
    .description('make a link to set a password: an invitation, or a reset for a user who has a password')
    .requiredOption('--user <email>', 'the user who gets the link')
    .action(({ user }: { user: string }) => execute((db) => linkFor(db, user, config)));

  program
    .command('reset-second-factor')
    .description('remove a lost second factor and the passkeys of a user and end their sessions; the password stays')
    .requiredOption('--user <email>', 'the user whose second factor and passkeys are removed')
    .action(({ user }: { user: string }) =>
      execute((db) => resetSecondFactorByEmail(db, user).then(({ email }) => ({ second_factor_removed: email }))),
    );
}
