import { isBelow, PROFILE_URL, SECTION_URLS } from '../addresses.ts';

/** The longest path that can be stored. */
const MAX_CHARACTERS = 2000;

/** Where sign-in leads: a path of the dashboard, or the profile for anything else, such as another site's address. */
export function safeNext(text: string | null): string {
  const url = URL.parse(text ?? '', 'http://ours.invalid');
  if (url === null || url.origin !== 'http://ours.invalid' || !isBelow(url.pathname, SECTION_URLS)) return PROFILE_URL;
  const path = url.pathname + url.search;
  return path.length > MAX_CHARACTERS ? PROFILE_URL : path;
}
