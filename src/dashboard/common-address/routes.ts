import { type Request, type RequestHandler, type Response, Router } from 'express';
import { calledCommonAddress } from '../http/common-address.ts';
import { form, type PublicPage, publicRoutes } from '../http/page-routes.ts';
import type { Dashboard } from '../http/request-context.ts';
import { leadToSignIn, showCells, submitEmail } from './sign-in.ts';

/** What belongs to a cell, where its people have their sessions. */
const OF_A_CELL = ['sign-in/*rest', 'sign-out', 'single-sign-on/*rest', 'forgotten-password', 'welcome/*rest'];
const SECTIONS = ['profile{/*rest}', 'people{/*rest}', 'organization{/*rest}'];

const PAGES: readonly PublicPage[] = [
  // It needs no database.
  { path: '/sign-in', get: showCells, post: form(['email', 'next'], submitEmail, { takesTurns: true }) },
  ...[...OF_A_CELL, ...SECTIONS].map((path) => ({ path: `/${path}`, get: leadToSignIn })),
];

/** The pages of the address that all cells share, in the place of those of a cell. Other requests go on. */
export function commonAddressRoutes(dashboard: Dashboard): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(publicRoutes(dashboard, PAGES));
  return (req: Request, res: Response, next) =>
    calledCommonAddress(req, dashboard) === null ? next() : router(req, res, next);
}
