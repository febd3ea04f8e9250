import type { Router } from 'express';
import type { SingleSignOnRequired } from '../../service/authority/sign-in-ways.ts';
import type { Dashboard, RequestContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import type { PublicPage, SignedInPage } from '../routing/page-routes.ts';
import { backChannelLogout } from './single-sign-on/logout.ts';
import { beginByEmail, mayLeadToProvider, startUrl } from './single-sign-on/provider.ts';
import { publicPages, signedInPages } from './single-sign-on/routes.ts';

/** What a way to sign in at an identity provider adds to the pages. */
type ProviderWay = {
  readonly publicPages: readonly PublicPage[];
  readonly signedInPages: readonly SignedInPage[];
  /** Returns the routes that the provider itself requests. */
  readonly routesForProvider: (dashboard: Dashboard) => Router;
  /** Returns whether the domain of an e-mail may lead to the provider, so that the sign-in asks for the e-mail first. */
  readonly mayLeadToProvider: (context: RequestContext) => Promise<boolean>;
  /** Begins the sign-in of a person with this e-mail. Returns `null` if the sign-in must ask for the password. */
  readonly beginByEmail: (
    context: RequestContext,
    person: { readonly email: string; readonly next: string },
  ) => Promise<View | null>;
  /** Returns the URL of the sign-in for a person whose organization accepts neither passwords nor passkeys. */
  readonly startUrl: (required: SingleSignOnRequired, next: string) => string;
};

/** The ways to sign in at an identity provider. Other pages know of single sign-on only through this list. */
export const PROVIDER_WAYS: readonly ProviderWay[] = [
  { publicPages, signedInPages, routesForProvider: backChannelLogout, mayLeadToProvider, beginByEmail, startUrl },
];
