import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The values of the command's options. Throws an error that ends with the help if they are not valid. */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
  help: string,
  parameters = process.argv.slice(2),
) {
  try {
    return parseArgs({ options, args: parameters }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
}
