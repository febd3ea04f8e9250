import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { onChange } from '../../watch.ts';
import { createBuilder, type Preview } from './build.ts';
import { problemsNow } from './problems.ts';

export type PreviewServer = { readonly url: string; close(): void };
export type PreviewOptions = {
  /** The checkout. */
  readonly root: string;
  readonly port: number;
  readonly print: (line: string) => void;
};

const TYPES: Readonly<Record<keyof Preview, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'plain.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json; charset=utf-8',
};

/** Serves the documentation, and notifies every open page when a file was saved. */
export async function startPreview({ root, port, print }: PreviewOptions): Promise<PreviewServer> {
  const script = await readFile(join(import.meta.dirname, 'client.js'), 'utf8');
  const build = createBuilder(root);
  const readers = new Set<ServerResponse>();
  let pages: Preview | null = null;
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
  const refresh = async () => {
    const startedAt = Date.now();
    round += 1;
    const own = round;
    try {
      pages = await build();
    } catch (error) {
      const found = await problemsNow(null);
      // Shows the build's own error if the linter finds no problem.
      return report(found === '' ? String(error) : found);
    }
    version += 1;
    tellAll();
    print(`Rebuilt in ${Date.now() - startedAt} ms.`);
    // A page that can be built may still have problems. They follow later, so that neither the reader nor the next save waits.
    problemsNow(null).then((found) => own === round && report(found), tellFailure);
  };

  const server = createServer((req, res) => {
    if (req.url === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      readers.add(res);
      res.once('close', () => readers.delete(res));
      return tell(res);
    }
    // JSON is also YAML. Only the published documentation has a file of its own.
    if (req.url === '/openapi.yaml') return void res.writeHead(307, { Location: '/openapi.json' }).end();
    const name = nameOf(req.url ?? '/');
    if (name === null) return void res.writeHead(404).end();
    res.writeHead(200, { 'Content-Type': TYPES[name], 'Cache-Control': 'no-store' });
    res.end(name === 'openapi.json' ? pages?.[name] : withScript(pages?.[name] ?? NOTHING, version, script));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  await refresh();
  const endWatching = await onChange(join(root, 'openapi'), () => refresh().catch(tellFailure));
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

/** An empty page, on which only the problems appear. */
const NOTHING = '<!doctype html><html lang="en"><title>Nothing to show yet</title><body></body></html>';

function nameOf(url: string): keyof Preview | null {
  const path = url.split('?', 1)[0];
  if (path === '/' || path === '/index.html') return 'index.html';
  return path === '/plain.html' ? 'plain.html' : path === '/openapi.json' ? 'openapi.json' : null;
}

function withScript(page: string, version: number, script: string): string {
  const end = page.lastIndexOf('</body>');
  const marked = `${page.slice(0, end)}<script type="module">\n${script}</script>\n${page.slice(end)}`;
  return marked.replace('<html', `<html data-version="${version}"`);
}
