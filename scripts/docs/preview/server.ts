import { readFile } from 'node:fs/promises';
import { createServer, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import { onChange } from '../../watch.ts';
import { createBuilder, type Shown } from './build.ts';
import { problemsNow } from './problems.ts';

export type Preview = { readonly url: string; close(): void };
export type PreviewOptions = {
  /** The checkout. */
  readonly root: string;
  readonly port: number;
  readonly print: (line: string) => void;
};

const TYPES: Readonly<Record<keyof Shown, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'plain.html': 'text/html; charset=utf-8',
  'openapi.json': 'application/json; charset=utf-8',
};

/** Serves the documentation, and tells every browser that looks at it when a file was saved. */
export async function startPreview({ root, port, print }: PreviewOptions): Promise<Preview> {
  const script = await readFile(join(import.meta.dirname, 'client.js'), 'utf8');
  const build = createBuilder(root);
  const readers = new Set<ServerResponse>();
  let shown: Shown | null = null;
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
      shown = await build();
    } catch (error) {
      const found = await problemsNow();
      // What nothing but the build has met, it tells itself.
      return report(found === '' ? String(error) : found);
    }
    version += 1;
    tellAll();
    print(`Shown after ${Date.now() - startedAt} ms.`);
    // What can be shown may still break a rule. Nobody waits for that, and the next save does not either.
    problemsNow().then((found) => own === round && report(found), tellFailure);
  };

  const server = createServer((req, res) => {
    if (req.url === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      readers.add(res);
      res.once('close', () => readers.delete(res));
      return tell(res);
    }
    // JSON is YAML, for whoever follows the link; the published page has both.
    if (req.url === '/openapi.yaml') return void res.writeHead(307, { Location: '/openapi.json' }).end();
    const name = nameOf(req.url ?? '/');
    if (name === null) return void res.writeHead(404).end();
    res.writeHead(200, { 'Content-Type': TYPES[name], 'Cache-Control': 'no-store' });
    res.end(name === 'openapi.json' ? shown?.[name] : withScript(shown?.[name] ?? NOTHING, version, script));
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

/** The page with nothing on it but what is wrong. */
const NOTHING = '<!doctype html><html lang="en"><title>Nothing to show yet</title><body></body></html>';

function nameOf(url: string): keyof Shown | null {
  const path = url.split('?', 1)[0];
  if (path === '/' || path === '/index.html') return 'index.html';
  return path === '/plain.html' ? 'plain.html' : path === '/openapi.json' ? 'openapi.json' : null;
}

function withScript(page: string, version: number, script: string): string {
  const end = page.lastIndexOf('</body>');
  const marked = `${page.slice(0, end)}<script type="module">\n${script}</script>\n${page.slice(end)}`;
  return marked.replace('<html', `<html data-version="${version}"`);
}
