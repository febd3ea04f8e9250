import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { ApiRequest } from '../../src/api/api-request.ts';
import { exceptionOf } from '../../src/api/exceptions.ts';
import type { Document } from '../../src/contract/contract.ts';
import { operationsOf } from '../../src/contract/document.ts';
import { Exchange } from '../../src/domain/request.ts';
import { parseJson } from '../../src/domain/resources/json.ts';
import { createMockApi, MockKeys } from './mock-api.ts';

export type Refusal = {
  readonly status: number;
  readonly message: string;
  readonly problems: readonly string[];
};

/**
 * Returns why the contract forbids the request, or `null` if the contract allows it. Does not check what depends on the server's
 * data.
 */
export type RequestCheck = (req: IncomingMessage, body: Buffer) => Promise<Refusal | null>;

/** Creates a check of requests against the contract, from the server's own code. It accepts keys of both environments. */
export async function createRequestCheck(document: Document, keys = new MockKeys()): Promise<RequestCheck> {
  const api = await createMockApi(document, {
    operations: operationsOf({ ...document }),
    handlerOf: () => async () => ({ status: 204, headers: {}, body: null }),
    keys,
    environmentOf: ({ headers }) => (headers.authorization?.includes('charter_test_') ? 'test' : 'live'),
    limit() {},
    send() {},
  });
  return async (req, body) => {
    const copy = copyOf(req, body);
    try {
      await api.handle(new ApiRequest(copy, new ServerResponse(copy), new Exchange('')));
      return null;
    } catch (error) {
      const { status, body } = exceptionOf(error);
      return { status, message: body.message, problems: problemsOf(error) };
    }
  };
}

/**
 * Returns the problems in a refusal: for a 422, the messages of all fields, each after the name of its field; otherwise, the
 * message.
 */
export function problemsOf(error: unknown): string[] {
  const { body } = exceptionOf(error);
  const errors = Object.entries(body.errors ?? {});
  return errors.length === 0
    ? [body.message]
    : errors.flatMap(([field, messages]) => messages.map((message) => `${field} ${message}`));
}

/**
 * The maximum size of a body in bytes. It exceeds the limit of every operation, so that the server's own code still refuses
 * bodies that are too large.
 */
const MAX_BYTES = 2 * 1024 * 1024;

/** A request whose body has been read. */
export type ReadRequest = {
  readonly bytes: Buffer;
  /** The parsed JSON of the body; `undefined` if the body is not JSON. */
  readonly body: unknown;
  /** Returns a copy of the request whose body can be read again. */
  again(): ApiRequest;
};

/** Reads the body before the API does. If the body is too large or incomplete, returns the received part. */
export async function readAhead({ req, res, exchange }: ApiRequest): Promise<ReadRequest> {
  const bytes = await bytesOf(req);
  return {
    bytes,
    body: jsonOf(bytes.toString()),
    again: () => new ApiRequest(copyOf(req, bytes), res, exchange),
  };
}

/** Returns a copy of the request with this body, because the stream of the original can be read only once. */
function copyOf(
  { method, url, httpVersion, headers, headersDistinct, rawHeaders }: IncomingMessage,
  body: Buffer,
): IncomingMessage {
  const sent = { method, url, httpVersion, headers, headersDistinct, rawHeaders };
  const copy = Object.assign(new IncomingMessage(new Socket()), sent);
  copy.complete = true;
  copy.push(body);
  copy.push(null);
  return copy;
}

async function bytesOf(req: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  // The stream of a request without a body may never end (see src/server.ts).
  if (req.headers['transfer-encoding'] === undefined && Number(req.headers['content-length'] ?? 0) === 0)
    return Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_BYTES) break;
    }
    req.resume();
  } catch {
    // The client has disconnected.
  }
  return Buffer.concat(chunks);
}

/** Returns the parsed JSON, or `undefined` if the text is not JSON. */
export function jsonOf(text: string): unknown {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}
