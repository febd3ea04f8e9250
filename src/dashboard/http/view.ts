import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { codeOf } from '../../store/error-code.ts';
import type { Html } from '../markup/html.ts';

type Extras = { readonly headers?: Readonly<Record<string, string>>; readonly cookies?: readonly string[] };

/** What a page's function returns; it never touches the response. */
export type View = Extras &
  (
    | { readonly kind: 'page'; readonly status: number; readonly html: Html }
    | { readonly kind: 'redirect'; readonly to: string }
    | { readonly kind: 'download'; readonly fileName: string; readonly lines: AsyncIterable<string> }
  );

/** On every answer, whatever it is. `same-origin`: with `no-referrer`, browsers send "Origin: null" with our own forms. */
export const SECURITY: Readonly<Record<string, string>> = {
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self' data:; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
  'X-Content-Type-Options': 'nosniff',
  'Referrer-Policy': 'same-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cross-Origin-Resource-Policy': 'same-origin',
  'Cache-Control': 'no-store',
};

export function redirect(to: string, extras: Extras = {}): View {
  return { kind: 'redirect', to, ...extras };
}

export async function sendView(res: ServerResponse, answer: View): Promise<void> {
  for (const [name, value] of Object.entries({ ...SECURITY, ...answer.headers })) res.setHeader(name, value);
  if (answer.cookies !== undefined) res.appendHeader('Set-Cookie', answer.cookies);
  switch (answer.kind) {
    case 'page': {
      const text = answer.html.toString();
      res.writeHead(answer.status, {
        'Content-Type': 'text/html; charset=utf-8',
        'Content-Length': Buffer.byteLength(text),
      });
      res.end(text);
      return;
    }
    case 'redirect':
      // 303: whatever was sent, what follows is a GET (RFC 9110 section 15.4.4).
      res.writeHead(303, { Location: answer.to, 'Content-Length': 0 });
      res.end();
      return;
    case 'download': {
      // A HEAD has no body, so what it would take is not read.
      const lines = res.req.method === 'HEAD' ? [] : await begun(answer.lines);
      res.writeHead(200, {
        'Content-Type': 'text/csv; charset=utf-8',
        'Content-Disposition': `attachment; filename="${answer.fileName}"`,
      });
      await pipeline(Readable.from(lines), res).catch((error: unknown) => {
        // Whoever cancels a download is no fault, unlike rows that cannot be read: that file breaks off.
        if (!CANCELLED.test(codeOf(error))) throw error;
      });
    }
  }
}

/** While the lines are sent, and before the first one is. */
const CANCELLED = /^ERR_STREAM_(PREMATURE_CLOSE|UNABLE_TO_PIPE)$/;

/** The same lines, the first two of which are there: a database that does not answer is noticed while it can be told. */
async function begun(lines: AsyncIterable<string>): Promise<AsyncIterable<string>> {
  const rest = lines[Symbol.asyncIterator]();
  const first = [await rest.next(), await rest.next()].flatMap(({ done, value }) => (done === true ? [] : [value]));
  return (async function* () {
    yield* first;
    for (let next = await rest.next(); next.done !== true; next = await rest.next()) yield next.value;
  })();
}
