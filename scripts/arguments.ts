import { type ParseArgsConfig, parseArgs } from 'node:util';

/** The values of what was typed. Throws what is not understood, with the help. */
export function readArguments<const Options extends NonNullable<ParseArgsConfig['options']>>(
  options: Options,
  help: string,
) {
  try {
    return parseArgs({ options }).values;
  } catch (error) {
    throw new Error(`${error instanceof Error ? error.message : error}\n\n${help}`);
  }
}
