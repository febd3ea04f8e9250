import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Json } from '../../../src/contract/document.ts';
import { onChange } from '../../watch.ts';
import { createBuilder, type Preview } from './build.ts';
import { createLinter } from './problems.ts';

export type PreviewServer = { readonly url: string; close(): void };
export type PreviewOptions = {
  /** The checkout. */
  readonly root: string;
  readonly port: number;
  readonly print: (line: string) => void;
};

/** Serves the documentation, and notifies every open page when a file was saved. */
export async function startPreview({ root, port, print }: PreviewOptions): Promise<PreviewServer> {
  const script = await readFile(join(import.meta.dirname, 'client.js'), 'utf8');
  const build = createBuilder(root);
  const problemsNow = createLinter(root);
  const readers = new Set<ServerResponse>();
  let preview: Preview | null = null;
  let version = 0;
  let problems = '';

  const tell = (reader: ServerResponse) => {
    reader.write(`event: version\ndata: ${version}\n\nevent: problems\ndata: ${JSON.stringify(problems)}\n\n`);
  };
  const tellAll = () => readers.forEach(tell);
  const report = (text: string) => {
    problems = text;
    if (problems !== '') print(problems);
    tellAll();
  };
  const tellFailure = (error: unknown) => print(error instanceof Error ? error.message : String(error));
  let round = 0;
  const lint = async (document: Json | null, own: number) => {
    const found = await problemsNow(document);
    if (own === round) report(found);
  };
  const refresh = async () => {
    const startedAt = Date.now();
    round += 1;
    const own = round;
    try {
      preview = await build();
    } catch (error) {
      const found = await problemsNow(null);
      // Shows the build's own error if the linter finds no problem.
      return report(found === '' ? String(error) : found);
    }
    version += 1;
    tellAll();
    print(`Rebuilt in ${Date.now() - startedAt} ms.`);
    // A page that can be built may still have problems. They are found when the pages have been rendered, so that neither the
    // reader nor the next save waits for the linter.
    const { document } = preview.contract;
    setTimeout(() => own === round && lint(document, own).catch(tellFailure), LINT_AFTER_MS).unref();
  };

  const server = createServer((req, res) => {
    if (req.url === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      readers.add(res);
      res.once('close', () => readers.delete(res));
      return tell(res);
    }
    const current = { preview, version, script };
    respond(req, res, current).catch((error: unknown) => {
      tellFailure(error);
      res.destroy();
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  const endWatching = await onChange(join(root, 'openapi'), () => refresh().catch(tellFailure), { atOnce: true });
  const address = server.address();
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : port}`,
    close() {
      endWatching();
      server.close();
      server.closeAllConnections();
    },
  };
}

/** Long enough for an open page to show the change first. */
const LINT_AFTER_MS = 500;
const HTML = 'text/html; charset=utf-8';
const JSON_TYPE = 'application/json; charset=utf-8';

type Current = { readonly preview: Preview | null; readonly version: number; readonly script: string };

async function respond(req: IncomingMessage, res: ServerResponse, current: Current): Promise<void> {
  const send = (type: string, text: string) =>
    void res.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(text);
  const { preview } = current;
  switch (req.url?.split('?', 1)[0]) {
    case '/':
    case '/index.html':
      return send(HTML, withScript(preview?.index() ?? NOTHING, current));
    case '/plain.html':
      return send(HTML, withScript((await preview?.plain()) ?? NOTHING, current));
    case '/openapi.json':
      return send(JSON_TYPE, JSON.stringify(preview?.contract.document ?? null, null, 2));
    // JSON is also YAML. Only the published documentation has a file of its own.
    case '/openapi.yaml':
      return void res.writeHead(307, { Location: '/openapi.json' }).end();
    case '/document.json':
      return send(JSON_TYPE, preview?.document ?? 'null');
    default:
      return void res.writeHead(404).end();
  }
}

/** An empty page, on which only the problems appear. */
const NOTHING = '<!doctype html><html lang="en"><title>Nothing to show yet</title><body></body></html>';

function withScript(page: string, { version, script }: Current): string {
  const end = page.lastIndexOf('</body>');
  const marked = `${page.slice(0, end)}<script type="module">\n${script}</script>\n${page.slice(end)}`;
  return marked.replace('<html', `<html data-version="${version}"`);
}
