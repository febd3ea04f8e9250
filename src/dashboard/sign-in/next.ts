/** Where sign-in leads without a page that was asked for. */
export const PROFILE = '/profile';
/** As long as it can be stored. */
const MAX_CHARACTERS = 2000;
const SECTIONS = /^\/(profile|people|organization)(\/|$)/;

/** Where sign-in leads: a path of the dashboard, or the profile for anything else, such as another site's address. */
export function safeNext(text: string | null): string {
  const url = URL.parse(text ?? '', 'http://ours.invalid');
  if (url === null || url.origin !== 'http://ours.invalid' || !SECTIONS.test(url.pathname)) return PROFILE;
  const path = url.pathname + url.search;
  return path.length > MAX_CHARACTERS ? PROFILE : path;
}
