import { type ClientRequest, Agent as HttpAgent, type IncomingMessage, request as requestHttp } from 'node:http';
import { Agent as HttpsAgent, request as requestHttps } from 'node:https';
import { isIP } from 'node:net';
import { isForbiddenAddress, type WebhookTargets } from '../domain/forbidden-address.ts';
import { MAX_RECEIVER_BODY_BYTES } from '../domain/webhooks/webhook-endpoint.ts';
import { createCheckedLookup, describeFailure, FORBIDDEN, NO_RESPONSE } from './connections.ts';
import { type ResolveName, resolveName } from './resolve-name.ts';

export const TIMEOUT_SECONDS = 15;
/** The idle time after which a connection is closed. It is shorter than the five seconds of Node's server and many others. */
const KEEP_ALIVE_MS = 4000;

export type OutgoingMessage = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
};

export type Reply = {
  /** The status from 100 to 599; `null` if there was no response. */
  readonly status: number | null;
  /** Why there was no response; empty if there was a response. */
  readonly error: string;
  /** The beginning of the response's body, at most 1,024 bytes. */
  readonly body: Buffer;
};

export type Sender = {
  /** Sends the message once. Returns `null` if the sender was closed before the exchange ended. */
  send(message: OutgoingMessage): Promise<Reply | null>;
  /** Abandons the exchanges in progress, and closes all connections. */
  close(): void;
};

export type Agents = { readonly http: HttpAgent; readonly https: HttpsAgent };

export type SenderOptions = {
  readonly targets: WebhookTargets;
  /** Resolves a host name. Default: by DNS queries. */
  readonly resolve?: ResolveName;
  readonly agents?: Agents;
  /** The timeout of the whole exchange in seconds. Default: 15. */
  readonly timeoutSeconds?: number;
};

/**
 * Creates agents that use no proxy, whatever the environment variables say. Node's agents use a proxy only with the option
 * proxyEnv.
 */
function createAgents(): Agents {
  const options = { keepAlive: true, timeout: KEEP_ALIVE_MS };
  // The environment variable NODE_TLS_REJECT_UNAUTHORIZED must not turn off the check of certificates.
  return { http: new HttpAgent(options), https: new HttpsAgent({ ...options, rejectUnauthorized: true }) };
}

/**
 * Creates a sender that sends messages by POST and follows no redirects. The address is checked when a connection is made. An
 * earlier check would not help, because a name server can return another address each time.
 */
export function createSender({
  targets: { allowHttp, allowedNetworks },
  resolve = resolveName,
  agents = createAgents(),
  timeoutSeconds = TIMEOUT_SECONDS,
}: SenderOptions): Sender {
  const isForbidden = (address: string) => isForbiddenAddress(address, allowedNetworks);
  const lookup = createCheckedLookup(resolve, isForbidden);
  const abandonments = new Set<() => void>();
  return {
    async send({ url: text, headers, body }) {
      const url = new URL(text);
      const host = url.hostname.replace(/^\[|\]$/g, '');
      if (url.protocol === 'http:' && !allowHttp) return replyOfFailure(HTTP_NOT_ALLOWED);
      // For a URL with an IP address, Node does not call the look-up that checks addresses.
      if (isIP(host) !== 0 && isForbidden(host)) return replyOfFailure(FORBIDDEN);
      const options = { method: 'POST', headers, lookup };
      const open = () =>
        url.protocol === 'http:'
          ? requestHttp(url, { ...options, agent: agents.http })
          : requestHttps(url, { ...options, agent: agents.https });
      return new Promise((settle) => {
        const abandon = () => exchange.end(null);
        const exchange = new Exchange({
          open,
          body,
          timeoutSeconds,
          settle(reply) {
            abandonments.delete(abandon);
            settle(reply);
          },
        });
        abandonments.add(abandon);
        exchange.begin();
      });
    },
    close() {
      for (const abandon of abandonments) abandon();
      agents.http.destroy();
      agents.https.destroy();
    },
  };
}

type ExchangeOptions = {
  readonly open: () => ClientRequest;
  readonly body: string;
  readonly timeoutSeconds: number;
  readonly settle: (reply: Reply | null) => void;
};

/** One request and its response, until it is settled. */
class Exchange {
  readonly #options: ExchangeOptions;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #request: ClientRequest | undefined;
  #response: IncomingMessage | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isSettled = false;

  constructor(options: ExchangeOptions) {
    this.#options = options;
  }

  begin(): void {
    const { timeoutSeconds } = this.#options;
    this.#timer = setTimeout(
      () => this.#endWith(`${NO_RESPONSE} within ${timeoutSeconds} seconds.`),
      timeoutSeconds * 1000,
    );
    this.#open();
  }

  /**
   * Settles the exchange, and closes its connection unless the exchange is complete. `reply` is `null` if the exchange was
   * abandoned.
   */
  end(reply: Reply | null): void {
    if (this.#isSettled) return;
    this.#isSettled = true;
    clearTimeout(this.#timer);
    const isComplete = this.#response?.complete === true && this.#request?.writableFinished === true;
    if (!isComplete) this.#request?.destroy();
    this.#options.settle(reply);
  }

  #open(): void {
    const request = this.#options.open();
    this.#request = request;
    request.once('response', (response) => this.#read(response));
    request.on('error', (error: NodeJS.ErrnoException) => {
      // The receiver closed an idle connection just as this request was sent on it, so the request is sent again.
      const isClosed = error.code === 'ECONNRESET' || error.code === 'EPIPE';
      if (!this.#isSettled && request.reusedSocket && isClosed && this.#response === undefined) this.#open();
      else this.#endWith(describeFailure(error));
    });
    request.once('close', () => this.#endWith(describeFailure({ code: 'ECONNRESET', message: '' }), request));
    request.end(this.#options.body);
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (chunk: Buffer) => {
      this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes > MAX_RECEIVER_BODY_BYTES) this.#endWith('');
    });
    // The status of the response counts even if the body is incomplete.
    for (const event of ['end', 'error', 'close']) response.once(event, () => this.#endWith(''));
  }

  /** Ends the exchange. `error` is ignored if there is a response. */
  #endWith(error: string, request = this.#request): void {
    if (request !== this.#request) return;
    const status = this.#response?.statusCode;
    // The bytes are copied, because a slice would keep all bytes of the chunks in memory.
    const body = Buffer.alloc(Math.min(this.#bytes, MAX_RECEIVER_BODY_BYTES));
    Buffer.concat(this.#chunks).copy(body);
    if (status === undefined) this.end(replyOfFailure(error));
    else if (status < 100 || status > 599)
      this.end(replyOfFailure(`The status ${status} of the response does not exist.`));
    else this.end({ status, error: '', body });
  }
}

function replyOfFailure(error: string): Reply {
  return { status: null, error, body: Buffer.alloc(0) };
}

const HTTP_NOT_ALLOWED = 'Charter must not send webhooks to http://, only to https://.';
export const EVENT_NOT_KEPT = 'The event is no longer kept.';
