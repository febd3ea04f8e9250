import express from 'express';
import { Exchange } from '../../src/domain/exchange.ts';
import { openPublication } from '../../src/publication/routes.ts';
import { pageSecurityHeaders } from '../../src/security-headers.ts';
import type { Assets } from './assets.ts';

/** The document, as a server publishes it. */
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
