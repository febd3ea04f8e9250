import type { Router } from 'express';
import type { SingleSignOnRequired } from '../../service/authority/sign-in-ways.ts';
import type { Dashboard, RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import type { PublicPage, SignedInPage } from '../routing/page-routes.ts';
import { backChannelLogout } from './single-sign-on/logout.ts';
import { beginByEmail, mayLeadToProvider, startUrl } from './single-sign-on/provider.ts';
import { publicPages, signedInPages } from './single-sign-on/routes.ts';

/** What a way to sign in at an identity provider adds to the dashboard. */
type ProviderWay = {
  readonly publicPages: readonly PublicPage[];
  readonly signedInPages: readonly SignedInPage[];
  /** Returns the routes that the provider itself requests. */
  readonly routesForProvider: (dashboard: Dashboard) => Router;
  /** Returns whether an e-mail's domain may lead to the provider. If so, the sign-in page asks for the e-mail first. */
  readonly mayLeadToProvider: (context: RequestContext) => Promise<boolean>;
  /** Begins the sign-in of the person with this e-mail. Returns `null` if the sign-in page must ask for the password. */
  readonly beginByEmail: (
    context: RequestContext,
    person: { readonly email: string; readonly next: string },
  ) => Promise<View | null>;
  /** Returns the URL at which people sign in if their organization accepts neither passwords nor passkeys. */
  readonly startUrl: (required: SingleSignOnRequired, next: string) => string;
};

/** The ways to sign in at an identity provider. Other pages use single sign-on only through this list. */
export const PROVIDER_WAYS: readonly ProviderWay[] = [
  { publicPages, signedInPages, routesForProvider: backChannelLogout, mayLeadToProvider, beginByEmail, startUrl },
];
