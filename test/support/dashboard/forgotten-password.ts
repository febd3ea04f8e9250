/** Sends the form "Forgotten password" as a browser does from our own page. */
export async function askForReset(
  url: string,
  { email, headers = {} }: { readonly email: string; readonly headers?: Readonly<Record<string, string>> },
): Promise<Response> {
  const address = `${url}/forgotten-password`;
  const always = { ...headers, Accept: 'text/html', 'Sec-Fetch-Site': 'same-origin' };
  const shown = await fetch(address, { headers: always });
  const [, token = ''] = /name="form_token" value="([^"]+)"/.exec(await shown.text()) ?? [];
  const cookies = shown.headers.getSetCookie().map((line) => line.split(';', 1)[0] ?? '');
  const body = new URLSearchParams({ form_token: token, email });
  return fetch(address, { method: 'POST', headers: { ...always, Cookie: cookies.join('; ') }, body });
}
