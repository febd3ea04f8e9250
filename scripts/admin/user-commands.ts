import type { Command } from 'commander';
import {
  changeEmailOf,
  getUserByEmailOrId,
  removeUser,
  resetSecondFactorOf,
} from '../../src/service/operator/users.ts';
import { type Context, linkFor } from './context.ts';

export function addUserCommands(program: Command, { config, execute }: Context): void {
  program
    .command('make-link')
    .description('make a link to set a password: an invitation, or a reset for a user who has a password')
    .requiredOption('--user <email>', 'the user who gets the link, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute(async (db) => linkFor(db, await getUserByEmailOrId(db, user), config)),
    );

  program
    .command('reset-second-factor')
    .description('remove a lost second factor and the passkeys of a user and end their sessions; the password stays')
    .requiredOption('--user <email>', 'the user whose second factor and passkeys are removed, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute((db) => resetSecondFactorOf(db, user).then(({ email }) => ({ second_factor_removed: email }))),
    );

  program
    .command('change-email')
    .description('change the e-mail with which a user signs in, and void the links to the former one')
    .requiredOption('--user <email>', 'the user, by e-mail or id')
    .requiredOption('--email <address>', 'the new e-mail')
    .action(({ user, email }: { user: string; email: string }) =>
      execute((db) => changeEmailOf(db, user, { email }).then(({ from, to }) => ({ former_email: from, email: to }))),
    );

  program
    .command('remove-user')
    .description('remove a user for good: their keys are revoked, and their e-mail can be used for another account')
    .requiredOption('--user <email>', 'the user, by e-mail or id')
    .action(({ user }: { user: string }) =>
      execute(async (db) => {
        const { email, keysRevoked, isDeleted } = await removeUser(db, user);
        const kept = isDeleted ? {} : { kept: 'a deactivated user without e-mail, to whom the history of keys refers' };
        return { removed: email, keys_revoked: keysRevoked, ...kept };
      }),
    );
}
