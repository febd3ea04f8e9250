/** The path with a query; empty and null values are left out. */
export function urlOf(path: string, query: Readonly<Record<string, string | null>>): string {
  const pairs = Object.entries(query).flatMap(([name, text]): [string, string][] =>
    text === null || text === '' ? [] : [[name, text]],
  );
  return pairs.length === 0 ? path : `${path}?${new URLSearchParams(pairs)}`;
}
