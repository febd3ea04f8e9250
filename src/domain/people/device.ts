/** The first that matches counts: browsers also name the ones that they are compatible with. */
const BROWSERS: readonly (readonly [RegExp, string])[] = [
  [/\bEdg(A|iOS)?\//, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bSamsungBrowser\//, 'Samsung Internet'],
  [/\b(Firefox|FxiOS)\//, 'Firefox'],
  [/(Chrome|\bCriOS)\//, 'Chrome'],
  [/\bVersion\/\S+ (\S+ )?Safari\//, 'Safari'],
  [/^curl\//, 'curl'],
];
const SYSTEMS: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bCrOS\b/, 'ChromeOS'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
];

/** "Firefox on Windows", for people, from a User-Agent header (RFC 9110 section 10.1.5). Clients can send any text there. */
export function deviceOf(userAgent: string): string {
  const nameIn = (names: typeof BROWSERS) => names.find(([mark]) => mark.test(userAgent))?.[1];
  const [browser, system] = [nameIn(BROWSERS), nameIn(SYSTEMS)];
  if (system === undefined) return browser ?? 'Unknown device';
  return `${browser ?? 'Unknown browser'} on ${system}`;
}
