import { request } from 'node:http';
import { formsOf, type PageForm, textOf } from './forms.ts';

export type Page = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly setCookies: readonly string[];
  readonly text: string;
};

/** The fields of a form. A list sends a field several times; `undefined` omits a field of the page. */
export type Fields = Readonly<Record<string, string | readonly string[] | undefined>>;
type Sending = {
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly body?: string | Buffer;
};

/**
 * A browser without JavaScript: gets pages, keeps cookies, and reads and sends forms with their hidden fields. Does not follow
 * redirects.
 */
export class Browser {
  readonly cookies = new Map<string, string>();
  readonly url: string;
  /** The headers of every request. */
  readonly headers: Readonly<Record<string, string>>;
  /** The local address that the browser connects from, such as 127.0.0.2. */
  readonly localAddress: string;

  constructor(url: string, { headers = {}, localAddress = '127.0.0.1' }: BrowserOptions = {}) {
    this.url = url;
    this.headers = headers;
    this.localAddress = localAddress;
  }

  get = (path: string, headers: Sending['headers'] = {}) => this.send('GET', path, { headers });

  /** Sends a form as a page of the dashboard does. */
  post = (path: string, fields: Fields, headers: Sending['headers'] = {}) =>
    this.send('POST', path, {
      body: encode(fields),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded', 'Sec-Fetch-Site': 'same-origin', ...headers },
    });

  /** Returns the form that posts to `action` on the page at `path`. */
  async form(path: string, action: string = path): Promise<PageForm> {
    const page = await this.get(path);
    const form = formsOf(page.text).find((each) => each.action === action);
    if (form === undefined) throw new Error(`${path} responds with ${page.status}, without a form for ${action}.`);
    return form;
  }

  /** Fills in and sends the form of a page. */
  async submit(path: string, change: Fields = {}, action: string = path): Promise<Page> {
    return this.post(action, fillForm(await this.form(path, action), change));
  }

  /** Returns the token that every form of a signed-in person must contain. */
  async formToken(): Promise<string> {
    const { fields } = await this.form('/profile', '/sign-out');
    return new Map(fields).get('form_token') ?? '';
  }

  async signIn(email: string, password: string, next = ''): Promise<Page> {
    const path = next === '' ? '/sign-in' : `/sign-in?next=${encodeURIComponent(next)}`;
    return this.submit(path, { email, password }, '/sign-in');
  }

  async send(method: string, path: string, { headers = {}, body }: Sending = {}): Promise<Page> {
    const page = await exchange(this, { method, path, headers, body });
    for (const line of page.setCookies) {
      const [, name = '', value = ''] = /^([^=;]+)=([^;]*)/.exec(line) ?? [];
      if (/; Max-Age=0/i.test(line)) this.cookies.delete(name);
      else this.cookies.set(name, value);
    }
    return page;
  }
}

type BrowserOptions = { headers?: Readonly<Record<string, string>>; localAddress?: string };

export function fillForm({ fields }: PageForm, change: Fields = {}): Fields {
  return { ...Object.fromEntries(fields.map(([name]) => [name, valuesOf(fields, name)])), ...change };
}

function valuesOf(fields: PageForm['fields'], name: string): string[] {
  return fields.filter(([each]) => each === name).map(([, value]) => value);
}

export function encode(fields: Fields): string {
  const pairs = Object.entries(fields).flatMap(([name, value]): [string, string][] =>
    (value === undefined ? [] : [value].flat()).map((text) => [name, text]),
  );
  return new URLSearchParams(pairs).toString();
}

type Exchange = Required<Pick<Sending, 'headers'>> & {
  method: string;
  path: string;
  body: string | Buffer | undefined;
};

function exchange(
  { url, cookies, headers: always, localAddress }: Browser,
  { method, path, headers, body }: Exchange,
): Promise<Page> {
  const { hostname, port } = new URL(url);
  const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ');
  const all = {
    Accept: 'text/html,application/xhtml+xml;q=0.9,*/*;q=0.8',
    ...(cookie !== '' && { Cookie: cookie }),
    ...(body !== undefined && { 'Content-Length': String(Buffer.byteLength(body)) }),
    ...always,
    ...headers,
  };
  const given = Object.fromEntries(Object.entries(all).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, method, path, headers: given, localAddress, agent: false }, (res) => {
      const chunks: Buffer[] = [];
      res.on('data', (chunk: Buffer) => chunks.push(chunk));
      res.on('error', reject);
      res.on('end', () => {
        const { 'set-cookie': setCookies = [], ...rest } = res.headers;
        const named = Object.fromEntries(
          Object.entries(rest).map(([name, value]) => [name, [value].flat().join(', ')]),
        );
        resolve({ status: res.statusCode ?? 0, headers: named, setCookies, text: Buffer.concat(chunks).toString() });
      });
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

const KEY = /charter_(?:live|test)_[0-9A-Za-z]{40,}/g;

/** Returns the keys that occur anywhere in a response, each once. */
export function keysIn({ text, headers, setCookies }: Page): string[] {
  return [...new Set(`${text}${JSON.stringify(headers)}${setCookies.join('')}`.match(KEY) ?? [])];
}

/** Returns whether a user is signed in. */
export async function isIn(browser: Browser): Promise<boolean> {
  return (await browser.get('/profile')).status === 200;
}

/** Returns the text of the page without markup. */
export function wordsOf({ text }: Pick<Page, 'text'>): string {
  // A <wbr> only marks where a word may break.
  return textOf(text.replaceAll('<wbr>', '').replace(/<[^>]*>/g, ' ')).replace(/\s+/g, ' ');
}

/** Checks that the page has this status and contains the words. */
export function expectToSay(page: Page, status: number, words: string): void {
  expect([page.status, wordsOf(page)]).toEqual([status, expect.stringContaining(words)]);
}
