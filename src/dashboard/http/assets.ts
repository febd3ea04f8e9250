import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { type Request, type Response, Router } from 'express';
import { ASSETS_URL } from './addresses.ts';

/** The parts of dashboard.css. The order matters: a later rule overrides an earlier one. */
const STYLES = [
  'shared',
  'text',
  'layout',
  'page-heading',
  'notices',
  'buttons',
  'forms',
  'facts',
  'charts',
  'menus',
  'tables',
  'narrow-tables',
  'media',
] as const;

const TYPES = {
  'dashboard.css': 'text/css; charset=utf-8',
  'dashboard.js': 'text/javascript; charset=utf-8',
  'passkeys.js': 'text/javascript; charset=utf-8',
  'icon.svg': 'image/svg+xml',
} as const;

type AssetName = keyof typeof TYPES;
export type AssetUrls = Readonly<Record<AssetName, string>>;

/**
 * Serves the files of `assets/`, which are read only at the start. Their URLs contain a hash of the content, so that browsers may
 * cache them forever.
 */
export function serveAssets(setPageHeaders: (res: Response) => void): { urls: AssetUrls; router: Router } {
  const router = Router({ caseSensitive: true, strict: true });
  const serve = (name: AssetName, bytes = readAsset(name)): string => {
    const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 12);
    const url = `${ASSETS_URL}/${name.replace('.', `.${hash}.`)}`;
    router.get(url, (_req: Request, res: Response) => {
      setPageHeaders(res);
      res.writeHead(200, {
        'Content-Type': TYPES[name],
        'Content-Length': bytes.length,
        'Cache-Control': 'public, max-age=31536000, immutable',
      });
      res.end(bytes);
    });
    return url;
  };
  const urls = {
    'dashboard.css': serve('dashboard.css', Buffer.concat(STYLES.map((part) => readAsset(`styles/${part}.css`)))),
    'dashboard.js': serve('dashboard.js'),
    'passkeys.js': serve('passkeys.js'),
    'icon.svg': serve('icon.svg'),
  };
  return { urls, router };
}

function readAsset(name: string): Buffer {
  return readFileSync(new URL(`../assets/${name}`, import.meta.url));
}
