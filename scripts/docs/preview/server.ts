import { hash } from 'node:crypto';
import { statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { join } from 'node:path';
import type { Json } from '../../../src/contract/document.ts';
import { fileAt, presentPathOf, rewriteLinks } from '../../../src/publication/paths.ts';
import { typeOf } from '../../../src/publication/published-file.ts';
import { bundleContract } from '../../bundle.ts';
import { messageOf } from '../../command-line.ts';
import { CONTRACT, lintDocuments } from '../../lint/contract.ts';
import { contractFiles, lintFiles, lintPages, pageFiles } from '../../lint/files.ts';
import { inOrder, type Problem, problemsText } from '../../lint/problem.ts';
import { lintSpelling } from '../../lint/spelling.ts';
import { onChange, repeatWhenChanged } from '../../watch.ts';
import { workflowFiles } from '../../workflows/run.ts';
import { type Contract, contractOf } from '../contract.ts';
import { readSource } from '../guides.ts';
import { readSite, type SiteFiles } from '../site.ts';

type PreviewServer = { readonly url: string; close(): void };
type PreviewOptions = {
  /** The root of the checkout. */
  readonly root: string;
  readonly port: number;
  readonly print: (line: string) => void;
};

/** An open page: its path, and the hash of the content that it shows; `null` if the page could not be built. */
type Reader = { readonly path: string; shown: string | null };

/** The problems that the linter has found. They are complete if everything has been checked since the last change. */
type Findings = { readonly problems: string; readonly complete: boolean };

/**
 * Serves the documentation at the paths at which an API server serves it. Reloads each open page whose content changes when a
 * file is saved.
 */
export async function startPreview({ root, port, print }: PreviewOptions): Promise<PreviewServer> {
  const script = await readFile(join(import.meta.dirname, 'client.js'), 'utf8');
  const linter = createLinter(root);
  const readers = new Map<ServerResponse, Reader>();
  let site: SiteFiles = new Map();
  let contract: Contract | null = null;
  let findings: Findings = { problems: '', complete: false };
  let url = '';

  const isOfContract = (file: string) => /\/openapi\/(openapi\.yaml$|paths\/|webhooks\/|components\/)/.test(file);
  const bundled = repeatWhenChanged(join(root, 'openapi'), isOfContract, async () =>
    contractOf(await bundleContract(join(root, 'openapi/openapi.yaml'))),
  );
  /**
   * Returns the content of a page. Builds the page only when it is requested, so that only open pages are built. The page
   * contains the hash of its content, for the script of the preview.
   */
  const contentAt = (path: string): { type: string; content: string | Buffer; hash: string } | null => {
    const file = fileAt(path);
    const built = file === null ? undefined : site.get(file.replace(/^docs\//, ''))?.();
    if (file === null || built === undefined) return null;
    const own = hash('sha256', built);
    const content = file.endsWith('.html')
      ? withScript(rewriteLinks(String(built)), `/preview.js?shown=${own}`)
      : built;
    return { type: typeOf(file), content, hash: own };
  };
  /**
   * Returns the hash of a page; `null` if the page cannot be built, for example because of a broken link. The linter reports such
   * problems.
   */
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
  const sendFindings = (res: ServerResponse) => res.write(`event: findings\ndata: ${JSON.stringify(findings)}\n\n`);
  const report = (problems: string, complete: boolean) => {
    const before = findings;
    findings = { problems, complete };
    if (problems !== '' && problems !== before.problems) print(problems);
    if (problems === '' && complete && !before.complete) print(NO_PROBLEMS);
    for (const res of readers.keys()) sendFindings(res);
  };
  const printFailure = (error: unknown) => print(messageOf(error));

  let round = 0;
  const refresh = async () => {
    const startedAt = Date.now();
    round += 1;
    const own = round;
    let failure = '';
    // While the contract cannot be read, the pages and the checks of the guides use the last contract that could be read.
    contract = await bundled().catch((error: unknown) => {
      failure = messageOf(error);
      return contract;
    });
    try {
      if (contract !== null)
        site = await readSite(root, await readSource(root, contract), {
          server: url,
          address: `${url}/docs`,
          support: null,
          isServed: false,
        });
      for (const [res, reader] of readers) reloadIfChanged(res, reader);
      print(`Rebuilt in ${Date.now() - startedAt} ms.`);
    } catch (error) {
      failure = messageOf(error);
    }
    // The problems in saved files are reported immediately. All other problems are reported after a delay without further
    // changes.
    const document = contract?.document ?? null;
    const lintAll = async () => {
      const found = await linter.inAll(document);
      if (own === round) report(found || failure, true);
    };
    report((await linter.inSaved(document)) || failure, false);
    setTimeout(() => own === round && lintAll().catch(printFailure), LINT_AFTER_MS).unref();
  };

  const server = createServer((req, res) => {
    try {
      respond(req, res);
    } catch (error) {
      // The page cannot be built, so it shows the reason.
      res.writeHead(200, { 'Content-Type': HTML }).end(withScript(NOTHING, '/preview.js'));
      report(messageOf(error), false);
    }
  });
  const respond = (req: IncomingMessage, res: ServerResponse) => {
    const { pathname, searchParams } = new URL(req.url ?? '/', 'http://preview');
    if (pathname === '/events') {
      res.writeHead(200, { 'Content-Type': 'text/event-stream', 'Cache-Control': 'no-store' });
      const reader = { path: searchParams.get('path') ?? '/docs', shown: searchParams.get('shown') };
      readers.set(res, reader);
      res.once('close', () => readers.delete(res));
      sendFindings(res);
      // The content may have changed since the page was sent.
      return reloadIfChanged(res, reader);
    }
    const send = (type: string, content: string | Buffer) =>
      res.writeHead(200, { 'Content-Type': type, 'Cache-Control': 'no-store' }).end(content);
    if (pathname === '/preview.js') return send('text/javascript; charset=utf-8', script);
    const moved = pathname === '/' ? '/docs' : presentPathOf(pathname);
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

/** The delay before everything is linted, in milliseconds, so that an open page shows the change first. */
const LINT_AFTER_MS = 300;
const HTML = 'text/html; charset=utf-8';

const NO_PROBLEMS = 'No problems.';

/** An empty page, which shows only problems. */
const NOTHING = '<!doctype html><html lang="en"><title>Nothing to show yet</title><body></body></html>';

function withScript(page: string, path: string): string {
  return page.replace('</body>', () => `<script type="module" src="${path}"></script>\n</body>`);
}

/**
 * Creates a linter that finds what `npm run lint` finds in openapi/. Each check runs only if its files have changed. `document`
 * is the bundled contract; `null` if the contract cannot be bundled.
 */
function createLinter(root: string): {
  /**
   * Checks the guides, and the spelling of the saved files. Returns the problems found, and the known problems of all other
   * checks.
   */
  inSaved(document: Json | null): Promise<string>;
  inAll(document: Json | null): Promise<string>;
} {
  const spelling = new Map<string, { readonly savedAt: number; readonly problems: readonly Problem[] }>();
  let ofDocuments: readonly Problem[] = [];
  const lintChanged = repeatWhenChanged(
    join(root, 'openapi'),
    (file) => !file.includes('/openapi/guides/'),
    async () => (await lintDocuments([CONTRACT, ...workflowFiles()])).flat(),
  );
  const guides = () => pageFiles().filter((file) => file.startsWith('openapi/guides/'));
  const spell = async (mostFiles: number) => {
    const times = new Map(
      [...contractFiles(), ...workflowFiles(), ...guides()].map((file) => [file, statSync(join(root, file)).mtimeMs]),
    );
    const changed = [...times].filter(([file, savedAt]) => spelling.get(file)?.savedAt !== savedAt);
    const found =
      changed.length > mostFiles || changed.length === 0 ? [] : await lintSpelling(changed.map(([file]) => file));
    if (changed.length <= mostFiles)
      for (const [file, savedAt] of changed)
        spelling.set(file, { savedAt, problems: found.filter((problem) => problem.file === file) });
    for (const file of spelling.keys()) if (!times.has(file)) spelling.delete(file);
  };
  const lintWithKnownSpelling = async (document: Json | null) => {
    const ofPages = await lintPages(guides(), document);
    const ofSpelling = [...spelling.values()].flatMap(({ problems }) => problems);
    return problemsText(inOrder([...ofDocuments, ...ofPages, ...lintFiles(), ...ofSpelling]));
  };
  return {
    async inSaved(document) {
      await spell(SAVED_AT_ONCE);
      return lintWithKnownSpelling(document);
    },
    async inAll(document) {
      [ofDocuments] = await Promise.all([lintChanged(), spell(Number.POSITIVE_INFINITY)]);
      return lintWithKnownSpelling(document);
    },
  };
}

/**
 * The maximum number of saved files whose spelling is checked immediately. Some editors save all open files together; their
 * spelling is then checked after the delay.
 */
const SAVED_AT_ONCE = 5;
