import { ENVELOPE_JSON } from '../../domain/json-scan.js';
import type { Json } from '../../domain/json-value.js';
import type { ContextInput } from '../../face/branch-face.js';
import type { Toolbox } from '../../face/toolbox.js';
import { refuse } from './faults.js';
import { jsonFrom, objectFrom } from './input-text.js';
import type { Invocation } from './invocation.js';

/** What a context is built with besides its profile. */
export type GivenInput = Pick<ContextInput<object>, 'budgetTokens' | 'tools' | 'params'>;

const isObject = (value: Json | undefined): value is { readonly [key: string]: Json } =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const misshapen = (path: string, expected: string): never =>
  refuse({ _tag: 'InvalidShape', path, expected });

/** A tool that is described to the model; its function is elsewhere. */
const described = (value: Json, index: number): readonly [string, Toolbox[string]] => {
  const path = `/${String(index)}`;
  if (!isObject(value)) return misshapen(path, 'object');
  // As it is written for a provider, or plain.
  const tool = isObject(value['function']) ? value['function'] : value;
  const { name, description } = tool;
  const parameters = tool['parameters'] ?? tool['input_schema'];
  if (typeof name !== 'string' || name === '') return misshapen(`${path}/name`, 'text');
  if (parameters !== undefined && !isObject(parameters)) {
    return misshapen(`${path}/parameters`, 'object');
  }
  return [
    name,
    {
      ...(typeof description === 'string' ? { description } : {}),
      ...(parameters === undefined ? {} : { parameters }),
      run: () => undefined,
    },
  ];
};

const toolsFrom = async (call: Invocation, file: string): Promise<Toolbox> => {
  const value = await jsonFrom(call, file, ENVELOPE_JSON);
  if (!Array.isArray(value)) return misshapen('', 'list of tools');
  return Object.fromEntries((value as readonly Json[]).map(described));
};

/** Reads `--budget`, `--tools` and `--params`. */
export const requestInput = async (call: Invocation): Promise<GivenInput> => {
  const { options } = call;
  const budget = options.whole('budget', { least: 1 });
  const [tools, params] = [options.text('tools'), options.text('params')];
  return {
    ...(budget === undefined ? {} : { budgetTokens: budget }),
    ...(tools === undefined ? {} : { tools: await toolsFrom(call, tools) }),
    ...(params === undefined ? {} : { params: await objectFrom(call, params, ENVELOPE_JSON) }),
  };
};
