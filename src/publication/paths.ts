// The paths at which the server publishes the files of generated/docs, which link to each other by file name.

/** The files that programs expect outside /docs, by path. */
const OUTSIDE: Readonly<Record<string, string>> = {
  '/openapi.json': 'openapi.json',
  '/openapi.yaml': 'openapi.yaml',
  '/postman.json': 'docs/postman.json',
  '/charter-client.tgz': 'docs/charter-client.tgz',
  '/charter-mock.tgz': 'docs/charter-mock.tgz',
  '/charter-mcp.tgz': 'docs/charter-mcp.tgz',
  '/llms.txt': 'docs/llms.txt',
  '/llms-full.txt': 'docs/llms-full.txt',
  '/sitemap.xml': 'docs/sitemap.xml',
  '/robots.txt': 'docs/robots.txt',
  '/.well-known/api-catalog': 'docs/.well-known/api-catalog',
};

export const OUTSIDE_PATHS: readonly string[] = Object.keys(OUTSIDE);

/** Matches the path of a page, or of a file with an extension, possibly in a folder. No part of the path begins with a dot. */
const NAME = /^\/docs\/((?:[\w-]+\/)*[\w-]+)((?:\.\w+)*)$/;

/** Returns the file that is published at a path; `null` if no file can be published there. */
export function fileAt(path: string): string | null {
  if (path === '/docs') return 'docs/index.html';
  if (Object.hasOwn(OUTSIDE, path)) return OUTSIDE[path] ?? null;
  const [, name = '', extension = ''] = NAME.exec(path) ?? [];
  if (name === '' || /\.(html|br|gz)$/.test(extension)) return null;
  return `docs/${name}${extension === '' ? '.html' : extension}`;
}

/**
 * Returns the current path of a page for a path that the page had in an earlier version, or has on a static file server; `null`
 * for any other path.
 */
export function presentPathOf(path: string): string | null {
  if (path === '/docs/' || path === '/docs/index.html') return '/docs';
  if (path === '/docs/plain' || path === '/docs/plain.html') return '/docs/all';
  const [, page] = /^(\/docs\/(?:reference\/)?[\w-]+)\.html$/.exec(path) ?? [];
  return page ?? null;
}

/** Returns the Markdown file of a page, for readers who prefer Markdown. */
export function markdownOf(file: string): string {
  return file === 'docs/all.html' ? 'docs/llms-full.txt' : file.replace(/\.html$/, '.md');
}

/** Returns the page with its links to other files replaced by paths on the server. */
export function rewriteLinks(page: string): string {
  return page.replace(
    /(href|src|data-redoc)="(?![a-z]+:|[#/"])(?:\.\.\/)?([^"#]+)/g,
    (_, attribute: string, name: string) => {
      if (Object.hasOwn(OUTSIDE, `/${name}`)) return `${attribute}="/${name}`;
      return `${attribute}="${name === 'index.html' ? '/docs' : `/docs/${name.replace(/\.html$/, '')}`}`;
    },
  );
}
