import { convertV2 } from 'openapi-to-postmanv2';

/** The members of a collection (format 2.1) that are changed here. */
type Collection = {
  readonly info: object;
  readonly item: readonly { readonly item?: readonly unknown[] }[];
  readonly variable: readonly { readonly key: string }[];
};

/**
 * Returns the dereferenced contract as a Postman collection (format 2.1), with a folder for each tag, and a request with examples
 * for each operation. The server's URL and the key are variables of the collection; the key has no value. The same contract
 * always gives the same collection.
 */
export async function toPostmanCollection(contract: { readonly info: { readonly version: string } }): Promise<object> {
  const { info, item, variable } = tidy(await convert(contract));
  return {
    info: { ...info, version: contract.info.version },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    // The converter adds "baseUrl", but the contract has its own variable "base_url".
    variable: [...variable.filter(({ key }) => key !== 'baseUrl'), { key: 'api_key', value: '' }],
    // Leaves out the folder for webhooks. It has no requests, because clients receive webhooks.
    item: item.filter((folder) => folder.item?.length !== 0),
  };
}

function convert(contract: object): Promise<unknown> {
  const options = {
    folderStrategy: 'Tags',
    parametersResolution: 'Example',
    // The optional parameters are listed but not selected, because the server would refuse a request with all of them.
    enableOptionalParameters: false,
    alwaysInheritAuthentication: true,
    includeAuthInfoInExample: false,
  };
  return new Promise((resolve, reject) => {
    convertV2({ type: 'json', data: contract }, options, (error, result) => {
      if (error !== null) reject(error);
      else if (result.result) resolve(result.output[0].data);
      else reject(new Error(`The contract cannot be converted to a Postman collection: ${result.reason}`));
    });
  });
}

/** Removes the random ids, which Postman does not need, and marks descriptions as Markdown. */
function tidy(collection: unknown): Collection {
  return JSON.parse(JSON.stringify(collection), (key, value) => {
    if (key === 'id' || key === '_postman_id') return undefined;
    if (key === 'type' && value === 'text/plain') return 'text/markdown';
    return value === '{{baseUrl}}' ? '{{base_url}}' : value;
  });
}
