import { createInstance, getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { pino } from 'pino';
import type { Json } from '../../src/contract/document.ts';

/** The first example of each header, and a body. */
export type PrismResponse = { readonly headers: Readonly<Record<string, string>>; readonly body: unknown };

export type PrismQuery = {
  readonly operationId: string;
  readonly status: number;
  /** The name of an example. The first one is used if it is omitted. */
  readonly example?: string | undefined;
  /** Generates data in place of an example; the same seed generates the same data. */
  readonly seed?: string | undefined;
};

// Prism only finds or generates the response; the server's own code has checked the request.
const WITHOUT_CHECKS = { checkSecurity: false, validateRequest: false, validateResponse: false, errors: false };

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

/** Rejects for a response that the document does not declare. */
export async function createPrismResponses(document: Json): Promise<(query: PrismQuery) => Promise<PrismResponse>> {
  // A copy, because Prism resolves the references in the document that it is given.
  const operations = new Map(
    (await getHttpOperationsFromSpec(structuredClone(document))).map((operation) => [operation.iid, operation]),
  );
  // Prism expects a log level that pino does not have.
  const logger = Object.assign(pino({ level: 'silent' }), { success() {} });
  const config = { ...WITHOUT_CHECKS, isProxy: false as const, upstreamProxy: undefined, mock: { dynamic: false } };
  const prism = createInstance(config, { logger });

  return async ({ operationId, status, example, seed }) => {
    const operation = operations.get(operationId);
    if (operation === undefined) throw new Error(`Prism does not know the operation ${operationId}.`);
    const mock = {
      code: status,
      dynamic: seed !== undefined,
      ...(example !== undefined && { exampleKey: example }),
      ...(seed !== undefined && { seed }),
    };
    const method = METHODS.find((each) => each === operation.method) ?? 'get';
    const input = { method, url: { path: operation.path.replace(/\{[^}]+\}/g, 'x') } };
    const result = await prism.request(input, [operation], { ...config, mock })();
    if (result._tag === 'Left')
      throw new Error(`Prism has no response ${status} of ${operationId}.`, { cause: result.left });
    const { headers = {}, body } = result.right.output;
    return { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])), body };
  };
}
