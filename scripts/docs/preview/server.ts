import { hash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { fileAt, movedTo, withPaths } from '../../../src/publication/paths.ts';
import { typeOf } from '../../../src/publication/published-file.ts';
import { bundleContract } from '../../bundle.ts';
import { onChange, whenChanged } from '../../watch.ts';
import { contractOf } from '../contract.ts';
import { readSource } from '../guides.ts';
import { readSite, type SiteFiles } from '../site.ts';
import { createLinter } from './problems.ts';

export type PreviewServer = { readonly url: string; close(): void };
export type PreviewOptions = {
  /** The checkout. */
  readonly root: string;
  readonly port: number;
  readonly print: (line: string) => void;
};

/** The path that an open page shows, and the hash of its content; `null` if it shows only why it cannot be built. */
type Reader = { readonly path: string; shown: string | null };

/** Serves the documentation under the same paths as a server, and reloads every open page that a saved file changes. */
export async function startPreview({ root, port, print }: PreviewOptions): Promise<PreviewServer> {
  const script = await readFile(join(import.meta.dirname, 'client.js'), 'utf8');
  const linter = createLinter(root);
  const readers = new Map<ServerResponse, Reader>();
  let site: SiteFiles = new Map();
  let problems = '';
  let url = '';

  const isOfContract = (file: string) => /\/openapi\/(openapi\.yaml$|paths\/|webhooks\/|components\/)/.test(file);
  const bundled = whenChanged(join(root, 'openapi'), isOfContract, async () =>
    contractOf(await bundleContract(join(root, 'openapi/openapi.yaml'))),
  );
  /** Made when it is asked for: only the pages that are open are built. A page names its own hash to the script. */
  const contentAt = (path: string): { type: string; content: string | Buffer; hash: string } | null => {
    const file = fileAt(path);
    const built = file === null ? undefined : site.get(file.replace(/^docs\//, ''))?.();
    if (file === null || built === undefined) return null;
    const own = hash('sha256', built);
    const content = file.endsWith('.html') ? withScript(withPaths(String(built)), `/preview.js?shown=${own}`) : built;
    return { type: typeOf(file), content, hash: own };
  };
  /** `null` for a page that cannot be built, such as one with a broken link, which the lint names. */
  const hashAt = (path: string): string | null => {
    try {
      return contentAt(path)?.hash ?? null;
    } catch {
      return null;
    }
  };
  const reloadIfChanged = (res: ServerResponse, reader: Reader) => {
    const present = hashAt(reader.path);
    if (present === null || present === reader.shown) return;
    res.write('event: reload\ndata:\n\n');
    reader.shown = present;
  };
  const tellProblems = (res: ServerResponse) => res.write(`event: problems\ndata: ${JSON.stringify(problems)}\n\n`);
  const report = (found: string) => {
    if (found === problems) return;
    problems = found;
    if (problems !== '') print(problems);
    for (const res of readers.keys()) tellProblems(res);
  };
  const printFailure = (error: unknown) => print(error instanceof Error ? error.message : String(error));

  let round = 0;
  const refresh = async () => {
    const startedAt = Date.now();
    round += 1;
    const own = round;
    let failure = '';
    const contract = await bundled().catch((error: unknown) => {
      failure = String(error);
      return null;
    });
    try {
      if (contract !== null)
        site = await readSite(root, await readSource(root, contract), {
          server: url,
          address: `${url}/docs`,
          support: null,
        });
      for (const [res, reader] of readers) reloadIfChanged(res, reader);
      print(`Rebuilt in ${Date.now() - startedAt} ms.`);
    } catch (error) {
      failure = String(error);
    }
    // The problems of what was saved come at once, and those of everything else when no further change has come.
    const document = contract?.document ?? null;
    const lintAll = async () => {
      const found = await linter.inAll(document);
      if (own === round) report(found === '' ? failure : found);
    };
    report((await linter.inSaved(document)) || failure);
    setTimeout(() => own === round && lintAll().catch(printFailure), LINT_AFTER_MS).unref();
  };

  const server = createServer((req, res) => {
    try {
      respond(req, res);
    } catch (error) {
      // A page that cannot be built shows why.
      res.writeHead(200, { 'Content-Type': HTML }).end(withScript(NOTHING, '/preview.js'));
      report(error instanceof Error ? error.message : String(error));
    }
  });
  const respond = (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://preview');
    if (pathname === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      const reader = { path: searchParams.get('path') ?? '/docs', shown: searchParams.get('shown') };
      readers.set(res, reader);
      res.once('close', () => readers.delete(res));
      tellProblems(res);
      // A change may have come since the page was sent.
      return reloadIfChanged(res, reader);
    }
    const send = (type: string, content: string | Buffer) =>
      res.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(content);
    if (pathname === '/preview.js') return send('text/javascript; charset=utf-8', script);
    const moved = pathname === '/' ? '/docs' : movedTo(pathname);
    if (moved !== null) return res.writeHead(307, { Location: moved }).end();
    const found = contentAt(pathname);
    if (found !== null) return send(found.type, found.content);
    if (site.size === 0) return send(HTML, withScript(NOTHING, '/preview.js'));
    return res.writeHead(404).end();
  };
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const address = server.address();
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`;
  const endWatching = await onChange(join(root, 'openapi'), () => refresh().catch(printFailure), { atOnce: true });
  return {
    url,
    close() {
      endWatching();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Long enough for an open page to show the change first. */
const LINT_AFTER_MS = 300;
const HTML = 'text/html; charset=utf-8';

/** An empty page, on which only the problems appear. */
const NOTHING = '<!doctype html><html lang="en"><title>Nothing to show yet</title><body></body></html>';

function withScript(page: string, path: string): string {
  return page.replace('</body>', () => `<script type="module" src="${path}"></script>\n</body>`);
}
