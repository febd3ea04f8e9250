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
  /** What the provider itself requests. */
  readonly routesForProvider: (dashboard: Dashboard) => Router;
  /** Whether the domain of an e-mail may lead to the provider, so that the sign-in asks for the e-mail first. */
  readonly mayLeadToProvider: (context: RequestContext) => Promise<boolean>;
  /** Begins the sign-in of a person with this e-mail; `null` if the password is to be asked for. */
  readonly beginByEmail: (
    context: RequestContext,
    person: { readonly email: string; readonly next: string },
  ) => Promise<View | null>;
  /** Where a person signs in whose organization accepts neither passwords nor passkeys. */
  readonly startUrl: (required: SingleSignOnRequired, next: string) => string;
};

/** The ways to sign in at an identity provider. The pages learn of single sign-on only here. */
export const PROVIDER_WAYS: readonly ProviderWay[] = [
  { publicPages, signedInPages, routesForProvider: backChannelLogout, mayLeadToProvider, beginByEmail, startUrl },
];
