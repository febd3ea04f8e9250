import { InvalidArgumentError } from 'commander';
import type { Config } from '../../src/config.ts';
import type { OrganizationScope } from '../../src/domain/organizations/organization-scope.ts';
import { linkUrl } from '../../src/domain/people/access-link.ts';
import type { DatabaseChoice } from '../../src/postgres/connect.ts';
import { createOperatorLink } from '../../src/service/people/access-links.ts';
import type { Database } from '../../src/store/sql/database.ts';

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Runs `work` on the configured database and prints the result. */
export type Execute = (
  work: (db: Database) => Promise<object>,
  options?: Partial<Pick<DatabaseChoice, 'replacesUnusedKeys' | 'databasePoolSize'>>,
) => Promise<void>;
export type Context = {
  readonly config: Config;
  /** The environment variables of the command. */
  readonly env: NodeJS.ProcessEnv;
  readonly execute: Execute;
  /** Prints the result of a command that needs no database. */
  readonly print: (result: object) => void;
  readonly warn: (message: string) => void;
};

/**
 * Creates an access link for a user. Its URL begins with PUBLIC_URL or, if that is not set, with the local address of the server.
 */
export async function linkFor(
  db: Database,
  { scope, userId }: { readonly scope: OrganizationScope; readonly userId: string },
  config: Config,
) {
  const link = await createOperatorLink(db, scope, { userId });
  const url = linkUrl(config.publicUrl ?? `http://localhost:${config.port}`, link.token);
  return { email: link.email, kind: link.kind, link: url, link_expires_at: link.expiresAt };
}

export function parseUuid(text: string): string {
  if (!UUID.test(text)) throw new InvalidArgumentError('Give a UUID.');
  return text.toLowerCase();
}
