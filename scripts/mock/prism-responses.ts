import { createInstance, getHttpOperationsFromSpec } from '@stoplight/prism-http';
import { pino } from 'pino';
import type { Json } from '../../src/api/document.ts';

/** What Prism makes of one answer of the contract: each header's first example, and a body. */
export type Shown = { readonly headers: Readonly<Record<string, string>>; readonly body: unknown };

export type Wanted = {
  readonly operationId: string;
  readonly status: number;
  /** Undefined: Prism takes the first one. */
  readonly example?: string | undefined;
  /** Generates data in place of taking an example; the same seed generates the same data. */
  readonly seed?: string | undefined;
};

export type Prism = (wanted: Wanted) => Promise<Shown>;

// Prism finds the answer and generates data; it checks nothing, because the server's own code does.
const CHECKS_NOTHING = { checkSecurity: false, validateRequest: false, validateResponse: false, errors: false };

const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'] as const;

export async function createPrism(document: Json): Promise<Prism> {
  // It follows the references within what it is given.
  const operations = new Map(
    (await getHttpOperationsFromSpec(structuredClone(document))).map((operation) => [operation.iid, operation]),
  );
  // Prism logs by a method of its own, too.
  const logger = Object.assign(pino({ level: 'silent' }), { success() {} });
  const config = { ...CHECKS_NOTHING, isProxy: false as const, upstreamProxy: undefined, mock: { dynamic: false } };
  const prism = createInstance(config, { logger });

  return async ({ operationId, status, example, seed }) => {
    const operation = operations.get(operationId);
    if (operation === undefined) throw new Error(`Prism does not know the operation ${operationId}.`);
    const path = operation.path.replace(/\{[^}]+\}/g, 'x');
    const mock = {
      code: status,
      dynamic: seed !== undefined,
      ...(example !== undefined && { exampleKey: example }),
      ...(seed !== undefined && { seed }),
    };
    const method = METHODS.find((each) => each === operation.method) ?? 'get';
    const input = { method, url: { path } };
    const result = await prism.request(input, [operation], { ...config, mock })();
    if (result._tag === 'Left') throw new Error(`Prism cannot make ${operationId} ${status}.`, { cause: result.left });
    const { headers = {}, body } = result.right.output;
    return { headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])), body };
  };
}
