import type { IncomingMessage } from 'node:http';
import { createAjv, type Document } from '../../src/api/contract.ts';
import { type ContractApi, createContractApi } from '../../src/api/contract-api.ts';
import { type Json, type Operation, operationsOf } from '../../src/api/document.ts';
import type { OperationHandler } from '../../src/api/operation.ts';
import { type Send, send } from '../../src/api/response.ts';
import type { Environment } from '../../src/domain/api-key.ts';
import { acceptEveryKey } from './accepted-keys.ts';
import { collectionOf } from './collection.ts';
import { headersShownBy } from './cors.ts';
import { createHandler } from './operation-handler.ts';
import { createSource, type Source } from './response-source.ts';

type ContractService = {
  readonly api: ContractApi;
  readonly operations: readonly Operation[];
};

export type MockService = ContractService & {
  readonly source: Source;
  /** The headers that pages of other origins may read. */
  readonly exposed: string;
};

/** The contract as the server serves it, with other handlers and with every well-formed key accepted. */
export async function createService(
  definition: Document,
  deps: {
    handlerOf: (operation: Operation) => OperationHandler;
    environmentOf: (req: IncomingMessage) => Environment;
    send: Send;
  },
): Promise<ContractService> {
  const operations = operationsOf(jsonOf(definition));
  const api = await createContractApi({
    definition,
    handlers: Object.fromEntries(operations.map((operation) => [operation.operationId, deps.handlerOf(operation)])),
    permissions: operations.flatMap(({ security }) => security.flatMap((each) => Object.values(each).flat())),
    authorize: acceptEveryKey(deps.environmentOf),
    send: deps.send,
  });
  return { api, operations };
}

/** Answers in the server's place. Throws where the document cannot be served. */
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
  const handlerOf = (operation: Operation) => createHandler(operation, { ajv, source, collections });
  const service = await createService(document, { handlerOf, environmentOf: () => environment, send });
  return { ...service, source, exposed: headersShownBy(service.operations) };
}

/** Any JSON object; openapi-backend's type of it knows every version of OpenAPI. */
export function jsonOf(document: Document): Json {
  return { ...document };
}
