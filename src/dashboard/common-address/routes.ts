import { type Request, type RequestHandler, type Response, Router } from 'express';
import { GUEST_URLS, SECTION_URLS, SIGN_IN_URL } from '../addresses.ts';
import { form, type PublicPage, publicRoutes } from '../http/page-routes.ts';
import { calledCommonAddress, type Dashboard } from '../http/request-context.ts';
import { leadToSignIn, showCells, submitEmail } from './sign-in.ts';

const PAGES: readonly PublicPage[] = [
  // It needs no database.
  { path: SIGN_IN_URL, get: showCells, post: form(['email', 'next'], submitEmail, { takesTurns: true }) },
  ...[...GUEST_URLS, ...SECTION_URLS].map((url) => ({ path: `${url}{/*rest}`, get: leadToSignIn })),
];

/** The pages of the address that all cells share, in the place of those of a cell. Other requests go on. */
export function commonAddressRoutes(dashboard: Dashboard): RequestHandler {
  const router = Router({ caseSensitive: true, strict: true });
  router.use(publicRoutes(dashboard, PAGES));
  return (req: Request, res: Response, next) =>
    calledCommonAddress(req, dashboard) === null ? next() : router(req, res, next);
}
