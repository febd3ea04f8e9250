import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import express from 'express';
import { type Document, readDocument } from '../../src/contract/contract.ts';
import { Exchange } from '../../src/domain/request.ts';
import { openPublication } from '../../src/publication/routes.ts';
import { pageSecurityHeaders } from '../../src/security-headers.ts';
import { readIcon, readSharedStyle } from '../docs/style.ts';
import { root } from '../tool.ts';

/** The contract that the mock serves, and the style sheet and the icon of its control page. */
export type Assets = {
  readonly document: Document;
  /** Returns the document as YAML. */
  readonly yaml: () => Promise<string>;
  readonly style: string;
  /** The icon of the control page, as a data URL. */
  readonly icon: string;
};

/** Serves the OpenAPI document at the paths at which a server publishes it. */
export function documentRoutes({ document, yaml }: Assets): express.Router {
  const readBuilt = async (name: string) => {
    if (name === 'openapi.json') return Buffer.from(JSON.stringify(document, null, 2));
    return name === 'openapi.yaml' ? Buffer.from(await yaml()) : null;
  };
  const publication = openPublication({ readBuilt });
  const router = express.Router({ caseSensitive: true, strict: true });
  const routes = publication.routes({ setPageHeaders: pageSecurityHeaders(undefined), publicUrl: undefined });
  router.all(['/openapi.json', '/openapi.yaml'], (req, res, next) => {
    res.setHeader('X-Request-Id', Exchange.of(res).requestId);
    routes(req, res, next);
  });
  return router;
}

/** Reads the style sheet and the icon. The control page shares parts of them with the dashboard. */
export async function readPageStyle(): Promise<Pick<Assets, 'style' | 'icon'>> {
  const [shared, own, icon] = await Promise.all([
    readSharedStyle(root),
    readFile(join(import.meta.dirname, 'control-page.css'), 'utf8'),
    readIcon(root),
  ]);
  return { style: shared + own, icon };
}

/**
 * Reads the files that `pack-mock.ts` puts into the package. The relative path to `generated` is the same as from this file,
 * because the folder of the bundle is equally deep.
 */
export async function readPackedAssets(): Promise<Assets> {
  const [document, page] = await Promise.all([readDocument(), readFile(new URL('page.json', import.meta.url), 'utf8')]);
  const yaml = () => readFile(new URL('../../generated/openapi.yaml', import.meta.url), 'utf8');
  return { document, yaml, ...JSON.parse(page) };
}
