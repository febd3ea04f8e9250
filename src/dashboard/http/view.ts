import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../domain/errors.ts';
import type { Html } from '../../html/html.ts';

type Extras = { readonly headers?: Readonly<Record<string, string>>; readonly cookies?: readonly string[] };

/** The result of a page's function. Only `sendView` writes to the response. */
export type View = Extras &
  (
    | { readonly kind: 'page'; readonly status: number; readonly html: Html }
    | { readonly kind: 'json'; readonly status: number; readonly body: unknown }
    | { readonly kind: 'redirect'; readonly to: string }
    | { readonly kind: 'download'; readonly fileName: string; readonly lines: AsyncIterable<string> }
  );

export function redirect(to: string, extras: Extras = {}): View {
  return { kind: 'redirect', to, ...extras };
}

type Deps = { readonly setPageHeaders: (res: ServerResponse) => void };

/** Writes the response, with the security headers of a web page. */
export async function sendView({ setPageHeaders }: Deps, res: ServerResponse, view: View): Promise<void> {
  setPageHeaders(res);
  res.setHeader('Cache-Control', 'no-store');
  for (const [name, value] of Object.entries(view.headers ?? {})) res.setHeader(name, value);
  if (view.cookies !== undefined) res.appendHeader('Set-Cookie', view.cookies);
  switch (view.kind) {
    case 'page': {
      const text = view.html.toString();
      res.writeHead(view.status, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
      });
      res.end(text);
      return;
    }
    case 'json': {
      const text = JSON.stringify(view.body);
      res.writeHead(view.status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
      res.end(text);
      return;
    }
    case 'redirect':
      // A browser follows a 303 response with GET, whatever the method of the request was (RFC 9110, section 15.4.4).
      res.writeHead(303, { Location: view.to, 'Content-Length': 0 });
      res.end();
      return;
    case 'download': {
      // The response to HEAD has no body, so the lines are not read.
      const lines = res.req.method === 'HEAD' ? [] : await startReading(view.lines);
      res.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${view.fileName}"`,
      });
      await pipeline(Readable.from(lines), res).catch((error: unknown) => {
        // A download that the client cancels is not a fault. Any other error is a fault, because the file ends in the middle.
        if (!CANCELLED.test(codeOf(error))) throw error;
      });
    }
  }
}

/** The errors of a cancelled download: the first while lines are being sent, the second before the first line. */
const CANCELLED = /^ERR_STREAM_(PREMATURE_CLOSE|UNABLE_TO_PIPE)$/;

/** Returns all lines. Reads the first two of them before the response begins, so that an outage still gets an error page. */
async function startReading(lines: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const rest = lines[Symbol.asyncIterator]();
  const first = [await rest.next(), await rest.next()].flatMap(({ done, value }) => (done === true ? [] : [value]));
  return (async function* () {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  })();
}
