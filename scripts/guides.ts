/** The guides in the text of openapi/guides/guides.yaml, in reading order. */
export function guidesIn(list: string): { readonly name: string; readonly line: number }[] {
  return list.split('\n').flatMap((text, i) => {
    const name = /^- (\S+\.md)$/.exec(text)?.[1];
    return name === undefined ? [] : [{ name, line: i + 1 }];
  });
}
