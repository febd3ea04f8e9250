import type { IncomingMessage } from 'node:http';
import { render } from '../../src/api/answer.ts';
import { createAjv, type Document, loadContract } from '../../src/api/contract.ts';
import { type Json, type Operation, operationsOf } from '../../src/api/document.ts';
import { type Acting, type Handle, planRoutes } from '../../src/api/plan.ts';
import { readInput, type Service } from '../../src/api/serve.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { acceptEveryKey } from './caller.ts';
import { collectionOf } from './collection.ts';
import { headersShownBy } from './cors.ts';
import { createHandle } from './handle.ts';
import { createSource, type Source } from './source.ts';

export type ContractService = Pick<Service<Acting>, 'routes' | 'refuseOverload'> & {
  readonly operations: readonly Operation[];
};
export type MockService = ContractService &
  Pick<Service<Acting>, 'answer'> & {
    readonly source: Source;
    /** The headers that pages may read. */
    readonly exposed: string;
  };

/** The server's own routes, keys and validation, with `handle` in the place of its handlers. */
export async function planService(
  document: Document,
  {
    handle,
    environmentOf,
  }: { handle: (operation: Operation) => Handle<Acting>; environmentOf: (req: IncomingMessage) => Environment },
): Promise<ContractService> {
  const operations = operationsOf(jsonOf(document));
  const permissions = operations.flatMap(({ security }) => security.flatMap((each) => Object.values(each).flat()));
  const byId = new Map(operations.map((operation) => [operation.operationId, handle(operation)]));
  const routes = planRoutes({
    // It resolves the references within what it is given.
    contract: await loadContract(structuredClone(document)),
    handle: (operationId) => byId.get(operationId),
    permissions,
    security: { apiKey: acceptEveryKey(environmentOf, permissions) },
  });
  return { routes, refuseOverload() {}, operations };
}

/** What answers for the server; throws where the document cannot be served. */
export async function createMockService(
  document: Document,
  { environment, seed }: { environment: Environment; seed: string | undefined },
): Promise<MockService> {
  const ajv = createAjv();
  const source = await createSource(jsonOf(document), { ajv, seed });
  const listed = operationsOf(jsonOf(document)).map((operation) =>
    collectionOf(operation, { ajv, source, isDynamic: seed !== undefined }),
  );
  const collections = (await Promise.all(listed)).filter((collection) => collection !== undefined);
  const handle = (operation: Operation) => createHandle(operation, { ajv, source, collections });
  const service = await planService(document, { handle, environmentOf: () => environment });
  return {
    ...{ ...service, source, exposed: headersShownBy(service.operations) },
    async answer(admitted) {
      const { plan } = admitted.matched;
      return render(plan, await plan.handle(await readInput(admitted)));
    },
  };
}

/** Any JSON object; openapi-backend's type of it knows every version of OpenAPI. */
export function jsonOf(document: Document): Json {
  return { ...document };
}
