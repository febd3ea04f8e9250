/** Where sign-in leads without a page that was asked for. */
export const PROFILE = '/profile';
const SECTIONS = /^\/(profile|people|organization)(\/|$)/;

/** Where sign-in leads: a path of the dashboard, or the profile for anything else, such as another site's address. */
export function safeNext(text: string | null): string {
  if (text === null || text.length > 2000 || !URL.canParse(text, 'http://ours.invalid')) return PROFILE;
  const { origin, pathname, search } = new URL(text, 'http://ours.invalid');
  return origin === 'http://ours.invalid' && SECTIONS.test(pathname) ? pathname + search : PROFILE;
}
