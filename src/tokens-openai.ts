import { run } from './face/stemma-error.js';
import type { TokenCounter } from './domain/tokens.js';
import { gptTokenizer, type GptEncoding } from './infra/tokens/gpt-tokenizer.js';

/**
 * A counter with OpenAI's own vocabularies, for `preview`, `request` and `compact`. Needs the package
 * `gpt-tokenizer`, which stemma does not install; without it this is refused with `NotFound`.
 */
export const openaiTokens = (encoding: GptEncoding = 'o200k_base'): Promise<TokenCounter> =>
  run(gptTokenizer(encoding));

export type { GptEncoding, TokenCounter };
