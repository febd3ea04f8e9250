// Where the server publishes the files of generated/docs, which link to each other by name.

/** Files that are outside of /docs, by their path: those that programs expect there. */
const OUTSIDE: Readonly<Record<string, string>> = {
  '/openapi.json': 'openapi.json',
  '/openapi.yaml': 'openapi.yaml',
  '/postman.json': 'docs/postman.json',
  '/charter-client.tgz': 'docs/charter-client.tgz',
  '/charter-mock.tgz': 'docs/charter-mock.tgz',
  '/llms.txt': 'docs/llms.txt',
  '/llms-full.txt': 'docs/llms-full.txt',
  '/sitemap.xml': 'docs/sitemap.xml',
  '/robots.txt': 'docs/robots.txt',
  '/.well-known/api-catalog': 'docs/.well-known/api-catalog',
};

export const OUTSIDE_PATHS: readonly string[] = Object.keys(OUTSIDE);

/** A page, or a file with an extension, possibly in a folder. No part of it begins with a dot. */
const NAME = /^\/docs\/((?:[\w-]+\/)*[\w-]+)((?:\.\w+)*)$/;

/** The file that is published at a path; `null` if there cannot be one. */
export function fileAt(path: string): string | null {
  if (path === '/docs') return 'docs/index.html';
  if (Object.hasOwn(OUTSIDE, path)) return OUTSIDE[path] ?? null;
  const [, name = '', extension = ''] = NAME.exec(path) ?? [];
  if (name === '' || /\.(html|br|gz)$/.test(extension)) return null;
  return `docs/${name}${extension === '' ? '.html' : extension}`;
}

/** The present path of one that pages had before, or have on a server for static files. */
export function presentPathOf(path: string): string | null {
  if (path === '/docs/' || path === '/docs/index.html') return '/docs';
  if (path === '/docs/plain' || path === '/docs/plain.html') return '/docs/all';
  const [, page] = /^(\/docs\/(?:reference\/)?[\w-]+)\.html$/.exec(path) ?? [];
  return page ?? null;
}

/** The Markdown of a page, for a reader who prefers it. */
export function markdownOf(file: string): string {
  return file === 'docs/all.html' ? 'docs/llms-full.txt' : file.replace(/\.html$/, '.md');
}

/** The page with its links to other files as paths on the server. */
export function rewriteLinks(page: string): string {
  return page.replace(
    /(href|src|data-redoc)="(?![a-z]+:|[#/"])(?:\.\.\/)?([^"#]+)/g,
    (_, attribute: string, name: string) => {
      if (Object.hasOwn(OUTSIDE, `/${name}`)) return `${attribute}="/${name}`;
      return `${attribute}="${name === 'index.html' ? '/docs' : `/docs/${name.replace(/\.html$/, '')}`}`;
    },
  );
}
