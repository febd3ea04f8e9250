import { USERS } from '../prisma/demonstration-data.ts';
import { DEMONSTRATION_PASSWORD, issueDemonstrationKey, seed } from '../prisma/seed.ts';
import { DomainError } from './domain/errors.ts';
import type { Environment } from './domain/keys/api-key.ts';
import type { Database } from './store/sql/database.ts';

export { seed };

/**
 * Returns the welcome message: the server's addresses and, if there are demonstration data, the demonstration sign-ins and a curl
 * command with a new key.
 */
export async function welcome(
  db: Database,
  {
    url,
    publicUrl = url,
    environment,
    cell,
  }: { url: string; publicUrl: string | undefined; environment: Environment; cell: string | null },
): Promise<string> {
  const addresses = `
  Charter is listening at ${url}

    API        ${url}/api/parent_programs
    Docs       ${url}/docs
    Dashboard  ${publicUrl}/sign-in
    Health     ${url}/livez  ${url}/readyz
`;
  // If no key could be created, the message says why.
  const key = await issueDemonstrationKey(db, environment, cell).catch((error: unknown) => {
    if (error instanceof DomainError) return error;
    throw error;
  });
  if (key === null) return `${addresses}\n`;
  if (key instanceof DomainError) return `${addresses}\n  There is no demonstration key: ${key.message}\n\n`;
  const width = Math.max(...USERS.map(({ role }) => role.length));
  return `${addresses}
  Demonstration sign-ins, password ${DEMONSTRATION_PASSWORD}

${USERS.map(({ role, email }) => `    ${role.padEnd(width)}  ${email}`).join('\n')}

  Try it

    curl -H "Authorization: Bearer ${key}" "${url}/api/parent_programs?limit=1"

  Before you run the code samples of the documentation

    export CHARTER_URL=${url} CHARTER_API_KEY=${key}

`;
}
