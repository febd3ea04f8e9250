import { readFile } from 'node:fs/promises';
import {
  type Json,
  type Operation,
  operationsOf,
  resolve,
  type Schema,
  type Webhook,
  webhooksOf,
} from '../../src/contract/document.ts';

type Tag = { readonly name: string; readonly description: string };

/**
 * The parts of the contract that the documentation shows. References to named schemas are not resolved, because the pages show
 * them as links.
 */
export type Contract = {
  readonly document: Json;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly tags: readonly Tag[];
  /** The operations, in the order of the document. */
  readonly operations: readonly Operation[];
  readonly webhooks: readonly Webhook[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
};

type Sections = Pick<Contract, 'info' | 'tags'> & {
  readonly components: Pick<Contract, 'schemas' | 'securitySchemes'>;
};

const SAMPLES = `You can run the code samples unchanged. They read the URL of the server from the environment variable \`CHARTER_URL\`, without a slash at the end, and the key from \`CHARTER_API_KEY\`. The samples in JavaScript, Python and Go need nothing else. Those in PHP use the extension curl, and those in TypeScript the client that each server publishes:

\`\`\`sh
npm install "$CHARTER_URL/charter-client.tgz"
\`\`\``;

export async function readContract(file: string): Promise<Contract> {
  return contractOf(JSON.parse(await readFile(file, 'utf8')));
}

export function contractOf(document: Json): Contract {
  const following = { keepNamedSchemas: true };
  const { info, tags, components } = resolve<Sections>(document, document, following);
  return {
    document,
    info,
    tags,
    operations: operationsOf(document, following),
    webhooks: webhooksOf(document, following),
    schemas: components.schemas,
    securitySchemes: components.securitySchemes,
  };
}

/** Returns the contract's example of a server's origin. If a server serves the pages, they show that server's origin instead. */
export function originOf(document: Json): string {
  const [server] = [document['servers']].flat();
  return exampleUrlOf(server);
}

/** Returns the URL of a server object, with its variables filled in. */
export function exampleUrlOf(server: unknown): string {
  const { url = '', variables = {} } = Object(server);
  return String(url).replace(/\{(.+?)\}/g, (_, name) => variables[name].default);
}

/** Returns what the API is for: the contract's description up to its first section. */
export function introductionOf({ info: { description } }: Contract): string {
  return description.split(/^## /m, 1)[0]?.trim() ?? '';
}

/** Returns the rules for all requests: the sections of the contract's description, as Markdown. */
export function conventionsOf(contract: Contract): string {
  const rules = contract.info.description.slice(introductionOf(contract).length).trim();
  return `\n\nThese rules apply to all operations.\n\n${rules}\n\n## Code samples\n\n${SAMPLES}\n`;
}
