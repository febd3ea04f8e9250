/** The guides that openapi/guides/guides.yaml lists, a name on each line, in the order of reading. */
export function guidesIn(list: string): { readonly name: string; readonly line: number }[] {
  return list.split('\n').flatMap((text, i) => {
    const name = /^- (\S+\.md)$/.exec(text)?.[1];
    return name === undefined ? [] : [{ name, line: i + 1 }];
  });
}
