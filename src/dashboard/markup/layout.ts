import type { Actor } from '../../domain/audit/actor.ts';
import { shownEmail } from '../../domain/people/email.ts';
import { mayGovern, maySeeKeysOfOthers, maySeePeople } from '../../domain/people/role.ts';
import { type Html, html } from '../../html/html.ts';
import { type IconName, icon, initials, LOGO, SPRITE } from '../../html/icons.ts';
import {
  DOCUMENTATION_URL,
  INTEGRATIONS_URL,
  isBelow,
  ORGANIZATION_KEYS_URL,
  ORGANIZATION_URL,
  PEOPLE_URL,
  PROFILE_URL,
  REPORT_KEY_URL,
  SIGN_OUT_URL,
  USERS_URL,
} from '../http/addresses.ts';
import type { Problem } from '../http/problem.ts';
import { askedUrl, type Dashboard, type RequestContext, type SignedInContext } from '../http/request-context.ts';
import type { View } from '../http/view.ts';
import { keyNotices } from './key-notices.ts';
import { environmentBadge, postForm } from './parts.ts';
import { ENVIRONMENT_WORDS } from './words.ts';

type PageContent = {
  /** The text of the page's h1. */
  readonly title: string;
  readonly main: Html;
  /** Why the page's form was refused. Determines the status of the response. */
  readonly problem?: Problem | null;
  /** The URL of the page with the form. The default is the URL of the request. */
  readonly formUrl?: string | undefined;
  /** Whether the response to a form contains the form again. By default, it does if the form was refused. */
  readonly isForm?: boolean;
  readonly status?: number;
  /** Whether the page needs passkeys.js, because it has a form for a passkey. */
  readonly hasPasskeyForm?: boolean;
};

/** Returns a whole page. Only people who are signed in get the navigation. */
export function page(
  context: RequestContext | SignedInContext,
  {
    title,
    main,
    problem = null,
    formUrl = askedUrl(context),
    isForm = problem !== null,
    status = problem?.status ?? 200,
    hasPasskeyForm = false,
  }: PageContent,
): View {
  const { assets, environment } = context.dashboard;
  const isFormAgain = isForm && context.method === 'POST';
  const markup = html`<!doctype html>
<html lang="en"${isFormAgain && html` data-form-url="${formUrl}"`}>
<head>
<meta charset="utf-8">
<title>${[409, 422, 429].includes(status) && 'Error: '}${title} · ${ENVIRONMENT_WORDS[environment]} · Charter</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<meta name="robots" content="noindex">
<link rel="icon" href="${assets['icon.svg']}" type="image/svg+xml">
<link rel="stylesheet" href="${assets['dashboard.css']}">
<script src="${assets['dashboard.js']}" defer></script>${hasPasskeyForm && html`\n<script src="${assets['passkeys.js']}" defer></script>`}
</head>
${'actor' in context ? signedInBody(context, main) : guestBody(context, main)}
</html>
`;
  const retryAfterSeconds = problem?.retryAfterSeconds ?? null;
  const headers = retryAfterSeconds === null ? {} : { 'Retry-After': String(retryAfterSeconds) };
  return { kind: 'page', status, html: markup, headers };
}

const DOCUMENTATION: Html = html`<a class="with-icon" href="${DOCUMENTATION_URL}">${icon('documentation')}API documentation</a>`;

/** Returns the link to support. Every page has the link, because messages ask people to contact support. */
function supportLink({ supportUrl }: Dashboard): Html | false {
  return (
    supportUrl !== undefined && html` <a class="with-icon" href="${supportUrl}">${icon('people')}Contact support</a>`
  );
}

/**
 * Returns the link to the page for reports of leaked keys. Every page without navigation has the link, except that page itself.
 */
function reportLink({ dashboard, commonAddress, path }: RequestContext): Html | false {
  const { common = null } = dashboard;
  return (
    (path !== REPORT_KEY_URL || commonAddress !== common) &&
    html` <a class="with-icon" href="${common?.url ?? ''}${REPORT_KEY_URL}">${icon('revoke')}Report a leaked key</a>`
  );
}

function guestBody(context: RequestContext, main: Html): Html {
  const { dashboard } = context;
  return html`<body class="guest">${SPRITE}
<a class="skip" href="#main">Skip to the content</a>
<header class="guest-head"><span class="brand">${LOGO}Charter</span>${environmentBadge(dashboard.environment)}</header>
<main id="main" tabindex="-1">${main}</main>
<footer class="guest-foot">${DOCUMENTATION}${reportLink(context)}${supportLink(dashboard)}</footer>
</body>`;
}

function signedInBody(context: SignedInContext, main: Html): Html {
  const { actor, dashboard, isMoving } = context;
  return html`<body class="member">${SPRITE}
<a class="skip" href="#main">Skip to the content</a>
<header class="side">
<div class="side-head"><div class="brand-row"><a class="brand" href="${PROFILE_URL}">${LOGO}Charter</a>${environmentBadge(dashboard.environment)}</div>
<details class="menu top-menu"><summary class="button">${icon('menu')}Menu</summary><div class="top-panel">${navigation(context)}${account(context)}</div></details></div>
<div class="side-rest"><p class="organization-name clamp">${actor.organizationName}</p>${navigation(context)}${account(context)}</div>
</header>
<main id="main" tabindex="-1">${
    actor.isSuspended &&
    !isMoving &&
    html`<div class="notice danger"><p><strong>${actor.organizationName} is suspended.</strong> Its API keys are refused until it is resumed. Contact support.</p></div>`
  }${keyNotices(context)}${main}</main>
</body>`;
}

type SectionLink = {
  name: string;
  path: string;
  /** Returns the URL to which the link leads. */
  start: (actor: Actor) => string;
  icon: IconName;
  mayEnter: (actor: Actor) => boolean;
};

const SECTIONS: readonly SectionLink[] = [
  {
    name: 'My profile',
    path: PROFILE_URL,
    start: () => PROFILE_URL,
    icon: 'profile',
    mayEnter: () => true,
  },
  {
    name: 'People',
    path: PEOPLE_URL,
    start: () => USERS_URL,
    icon: 'people',
    mayEnter: ({ role }) => maySeePeople(role),
  },
  {
    name: 'Organization',
    path: ORGANIZATION_URL,
    start: ({ role }) =>
      mayGovern(role) ? ORGANIZATION_URL : maySeeKeysOfOthers(role) ? ORGANIZATION_KEYS_URL : INTEGRATIONS_URL,
    icon: 'organization',
    mayEnter: ({ role, ownsIntegrations }) => maySeeKeysOfOthers(role) || ownsIntegrations,
  },
];

function navigation({ actor, path }: SignedInContext): Html {
  const links = SECTIONS.filter(({ mayEnter }) => mayEnter(actor)).map(({ name, path: to, start, icon: iconName }) => {
    // `aria-current` is "page" for the page itself, and "true" for the section that contains the page.
    const href = start(actor);
    const current = path === href ? 'page' : isBelow(path, [to]) ? 'true' : null;
    return html`<li><a href="${href}"${current !== null && html` aria-current="${current}"`}>${icon(iconName)}${name}</a></li>`;
  });
  return html`<nav aria-label="Main"><ul class="sections">${links}</ul></nav>`;
}

function account({ actor, dashboard, formToken }: SignedInContext): Html {
  return html`<div class="account">
<span class="avatar" aria-hidden="true">${initials(actor.name)}</span>
<div class="account-name"><span>${actor.name}</span><span class="quiet">${shownEmail(actor.email)}</span></div>
<p class="account-docs">${DOCUMENTATION}${supportLink(dashboard)}</p>
${postForm({ action: SIGN_OUT_URL, formToken }, html`<button class="button plain small">${icon('sign-out')}Sign out</button>`)}
</div>`;
}
