import type { Block } from '../message.js';
import { report, type EncodeWork } from './anthropic-work.js';
import type { MediaBlock, Turn } from './profile.js';

/** Longest side of an image, and of each image of a request that has many (A15). */
export const MAX_SIDE = 8_000;
export const MAX_SIDE_OF_MANY = 2_000;
export const MANY_IMAGES = 20;

// An image is about width x height / 750 tokens, after it was fitted into 1568 px and about 1.15
// megapixels. An image of unknown size counts as the largest that is not scaled down.
const PIXELS_PER_TOKEN = 750;
const FULL_SIDE = 1_568;
const MAX_IMAGE_TOKENS = 1_600;
const UNKNOWN_AUDIO = 1_000;
const UNKNOWN_FILE = 3_000;

/** Tokens of an image by its size, of audio and files by a flat allowance; never by encoded length. */
export const anthropicMediaTokens = (block: MediaBlock): number => {
  if (block.type === 'audio') return UNKNOWN_AUDIO;
  if (block.type === 'file') return UNKNOWN_FILE;
  const { width = 0, height = 0 } = block;
  if (width <= 0 || height <= 0) return MAX_IMAGE_TOKENS;
  const fit = Math.min(1, FULL_SIDE / Math.max(width, height));
  const tokens = Math.ceil((width * fit * height * fit) / PIXELS_PER_TOKEN);
  return Math.min(MAX_IMAGE_TOKENS, tokens);
};

const isImage = (block: Block): block is Extract<Block, { readonly type: 'image' }> =>
  block.type === 'image';

/**
 * Replaces images that the provider refuses by a line of text: one of them would fail every later
 * request of the conversation.
 */
export const fitImages = (turns: readonly Turn[], work: EncodeWork): readonly Turn[] => {
  if (work.options.strict) return turns;
  const count = turns.reduce((sum, { blocks }) => sum + blocks.filter(isImage).length, 0);
  const limit = count > MANY_IMAGES ? MAX_SIDE_OF_MANY : MAX_SIDE;
  return turns.map((turn) => {
    const isTooBig = (block: Block): boolean =>
      isImage(block) && Math.max(block.width ?? 0, block.height ?? 0) > limit;
    if (!turn.blocks.some(isTooBig)) return turn;
    report(work, turn, { code: 'CONTENT_OMITTED', action: 'image_too_big' });
    const { raw: _raw, ...rest } = turn;
    const blocks = turn.blocks.map((block): Block => {
      if (!isImage(block) || !isTooBig(block)) return block;
      const size = `${String(block.width)} x ${String(block.height)}`;
      return { type: 'text', text: `[image of ${size} pixels left out: it is too big to send]` };
    });
    return { ...rest, blocks };
  });
};
