import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  request,
  type ServerResponse,
} from 'node:http';
import { closeNow, listenLocally } from './port.ts';

// A server that fails when a test tells it to, as a network, a proxy or an overloaded server can fail.

export type Received = {
  readonly method: string;
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
};

/** The reaction to one request. */
export type Step = (res: ServerResponse, received: Received) => void;

export type ScriptedServer = {
  readonly url: string;
  /** All requests since the last call of `play`, in order. */
  readonly received: Received[];
  /** Sets the steps, one for each request. The last step also serves all later requests. */
  play(...steps: [Step, ...Step[]]): void;
  close(): Promise<void>;
} & AsyncDisposable;

/** Starts a scripted server for the tests of a file, and closes the server after them. */
export async function useScriptedServer(): Promise<ScriptedServer> {
  const server = await startScriptedServer();
  afterAll(() => server.close());
  return server;
}

export async function startScriptedServer(): Promise<ScriptedServer> {
  let script: readonly Step[] = [];
  const received: Received[] = [];
  const server = createServer(async (req, res) => {
    const asked = { method: req.method ?? '', url: req.url ?? '', headers: req.headers, body: await readText(req) };
    received.push(asked);
    script[Math.min(received.length, script.length) - 1]?.(res, asked);
  });
  const port = await listenLocally(server);
  const close = () => closeNow(server);
  return {
    url: `http://127.0.0.1:${port}`,
    received,
    play(...steps) {
      script = steps;
      received.length = 0;
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Returns a step that responds with JSON; the default is the body of an error response. */
export function respondsWith(
  status: number,
  headers: Record<string, string> = {},
  body: unknown = { message: 'No.' },
): Step {
  return (res) => {
    res.writeHead(status, { 'Content-Type': 'application/json; charset=utf-8', ...headers });
    res.end(status === 204 || status === 304 ? undefined : JSON.stringify(body));
  };
}

export const hangsUp: Step = (res) => void res.socket?.destroy();

export const staysSilent: Step = () => {};

/** Starts a response and never ends it. */
export const stallsMidway: Step = (res) => {
  res.writeHead(200, { 'Content-Type': 'application/json; charset=utf-8' });
  res.write('{"data":');
};

/** Returns a step that forwards the request to a real server, and returns the response of this server. */
export function passesOn(target: string): Step {
  return (res, received) =>
    void forward(target, received, (response) =>
      response.pipe(res.writeHead(response.statusCode ?? 0, response.headers)),
    );
}

/** Returns a step that forwards the request to a real server, and closes the connection instead of returning the response. */
export function losesResponseOf(target: string): Step {
  return (res, received) =>
    void forward(target, received, (response) => response.resume().once('end', () => res.socket?.destroy()));
}

function forward(
  target: string,
  { method, url, headers, body }: Received,
  take: (response: IncomingMessage) => void,
): void {
  request(new URL(url, target), { method, headers, agent: false }, take).end(body);
}

async function readText(req: IncomingMessage): Promise<string> {
  let text = '';
  for await (const chunk of req.setEncoding('utf8')) text += String(chunk);
  return text;
}

type Upstream = { readonly url: string; close(): Promise<void> } & AsyncDisposable;

/** Starts a server other than Charter, with this listener. The caller closes the server. */
export async function startUpstream(listener: RequestListener): Promise<Upstream> {
  const server = createServer(listener);
  const port = await listenLocally(server);
  const close = () => closeNow(server);
  return { url: `http://127.0.0.1:${port}`, close, [Symbol.asyncDispose]: close };
}
