import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../domain/errors.ts';
import type { Html } from '../../html/html.ts';

type Extras = { readonly headers?: Readonly<Record<string, string>>; readonly cookies?: readonly string[] };

/** The result of a page's function. Only `sendView` writes the result to the response. */
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

/** Writes the view to the response, with the security headers of a web page. */
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
      // After a 303 response, a browser sends GET, whatever the method of the request was (RFC 9110, section 15.4.4).
      res.writeHead(303, { Location: view.to, 'Content-Length': 0 });
      res.end();
      return;
    case 'download': {
      // The response to a HEAD request has no body, so no lines are read.
      const lines = res.req.method === 'HEAD' ? [] : await startReading(view.lines);
      res.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${view.fileName}"`,
      });
      await pipeline(Readable.from(lines), res).catch((error: unknown) => {
        // A client may cancel a download, which is not a fault. Any other error is a fault, because the file is incomplete.
        if (!CANCELLED.test(codeOf(error))) throw error;
      });
    }
  }
}

/** The error codes of a cancelled download: PREMATURE_CLOSE while lines are being sent, UNABLE_TO_PIPE before the first line. */
const CANCELLED = /^ERR_STREAM_(PREMATURE_CLOSE|UNABLE_TO_PIPE)$/;

/**
 * Returns an iterable of all lines. Reads the first two before the response begins, because an error page can be sent only until
 * then.
 */
async function startReading(lines: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const rest = lines[Symbol.asyncIterator]();
  const first = [await rest.next(), await rest.next()].flatMap(({ done, value }) => (done === true ? [] : [value]));
  return (async function* () {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  })();
}
