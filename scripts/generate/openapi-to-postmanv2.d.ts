/** The types of those functions of the package that we use. The package itself has no types. */
declare module 'openapi-to-postmanv2' {
  export type Result =
    | { result: true; output: [{ type: 'collection'; data: unknown }] }
    | { result: false; reason: string };

  export function convertV2(
    input: { type: 'json'; data: object },
    options: Readonly<Record<string, string | boolean>>,
    done: (error: Error | null, result: Result) => void,
  ): void;
}
