import { readFile } from 'node:fs/promises';
import { type Json, type Operation, operationsOf, resolve, type Schema } from '../../src/api/document.ts';

export type Tag = { readonly name: string; readonly description: string };

/** The parts of the contract that the documentation shows. References to named schemas are kept, so that they become links. */
export type Contract = {
  readonly document: Json;
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly summary: string;
    readonly description: string;
  };
  readonly tags: readonly Tag[];
  /** In the document's order. */
  readonly operations: readonly Operation[];
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly securitySchemes: Readonly<Record<string, { readonly description: string }>>;
};

type Sections = Pick<Contract, 'info' | 'tags'> & {
  readonly components: Pick<Contract, 'schemas' | 'securitySchemes'>;
};

/** The page on the rules for every request, which come after the introduction in the contract's description. */
export const GENERAL = { name: 'every-request', title: 'Every request' };

const SAMPLES =
  'The samples can be run as they are shown. They read the address of the server from the environment variable `CHARTER_URL`, without a slash at the end, and the key from `CHARTER_API_KEY`.';

export async function readContract(file: string): Promise<Contract> {
  const document: Json = JSON.parse(await readFile(file, 'utf8'));
  const following = { keepNamedSchemas: true };
  const { info, tags, components } = resolve<Sections>(document, document, following);
  return {
    document,
    info,
    tags,
    operations: operationsOf(document, following),
    schemas: components.schemas,
    securitySchemes: components.securitySchemes,
  };
}

/** The contract's description, split where its sections begin. */
export function descriptionOf({ info: { description } }: Contract): { introduction: string; rules: string } {
  const at = description.search(/^## /m);
  const [introduction, rules] = at < 0 ? [description, ''] : [description.slice(0, at), description.slice(at)];
  return { introduction: introduction.trim(), rules: `${rules.trim()}\n\n## The samples\n\n${SAMPLES}` };
}
