import { convertV2 } from 'openapi-to-postmanv2';

/** The little of a collection of format 2.1 that is changed here. */
type Collection = {
  readonly info: object;
  readonly item: readonly unknown[];
  readonly variable: readonly { readonly key: string }[];
};

/**
 * The contract, every `$ref` of it followed, as a Postman collection of format 2.1: a folder a tag, a request an
 * operation, with its examples. The key and the address are variables of the collection; the key's is empty. The same
 * contract gives the same text.
 */
export async function toPostmanCollection(contract: { readonly info: { readonly version: string } }): Promise<object> {
  const { info, item, variable } = tidy(await convert(contract));
  return {
    info: { ...info, version: contract.info.version },
    auth: { type: 'bearer', bearer: [{ key: 'token', value: '{{api_key}}', type: 'string' }] },
    // The converter's own "baseUrl" would stand for "base_url", which the contract has already.
    variable: [...variable.filter(({ key }) => key !== 'baseUrl'), { key: 'api_key', value: '' }],
    item,
  };
}

function convert(contract: object): Promise<unknown> {
  const options = {
    folderStrategy: 'Tags',
    parametersResolution: 'Example',
    // They are listed, but not ticked: all at once they would be refused.
    enableOptionalParameters: false,
    alwaysInheritAuthentication: true,
    includeAuthInfoInExample: false,
  };
  return new Promise((resolve, reject) => {
    convertV2({ type: 'json', data: contract }, options, (error, result) => {
      if (error !== null) reject(error);
      else if (result.result) resolve(result.output[0].data);
      else reject(new Error(`The contract gives no Postman collection: ${result.reason}`));
    });
  });
}

/** Without the ids, which are made by chance, and Postman makes its own; with descriptions as the Markdown they are. */
function tidy(collection: unknown): Collection {
  return JSON.parse(JSON.stringify(collection), (key, value) => {
    if (key === 'id' || key === '_postman_id') return undefined;
    if (key === 'type' && value === 'text/plain') return 'text/markdown';
    return value === '{{baseUrl}}' ? '{{base_url}}' : value;
  });
}
