import { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { ApiRequest } from '../../src/api/api-request.ts';
import { parseJson } from '../../src/domain/json.ts';

/** More than any operation takes, so that the server's own code still refuses what is too large. */
const MAX_BYTES = 2 * 1024 * 1024;

/** A request whose body has been read. */
export type ReadRequest = {
  readonly bytes: Buffer;
  /** `undefined` if the body is not JSON. */
  readonly body: unknown;
  /** The request as if its body were still to be read. */
  again(): ApiRequest;
};

/** Reads the body before the API does. A body that is too large or incomplete is read as far as it goes. */
export async function readAhead({ req, res, exchange }: ApiRequest): Promise<ReadRequest> {
  const bytes = await bytesOf(req);
  return {
    bytes,
    body: jsonOf(bytes),
    again: () => new ApiRequest(copyOf(req, bytes), res, exchange),
  };
}

/** The request with this body; its own stream has been read. */
export function copyOf(
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
  // The stream of a request without a body may never end (server.ts).
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

function jsonOf(bytes: Buffer): unknown {
  try {
    return parseJson(bytes.toString());
  } catch {
    return undefined;
  }
}
