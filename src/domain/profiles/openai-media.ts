import type { MediaBlock } from './profile.js';

// Tile pricing of images: 85 for the image, 170 for each tile of 512 px, after fitting it into
// 2048 px and its shorter side to 768 px. An image of unknown size counts as 1024 x 1024.
const BASE = 85;
const TILE = 170;
const TILE_SIDE = 512;
const MAX_SIDE = 2048;
const SHORT_SIDE = 768;
const UNKNOWN_IMAGE = 765;
const UNKNOWN_AUDIO = 1_000;
const UNKNOWN_FILE = 3_000;

const imageTokens = (width: number, height: number): number => {
  const fit = Math.min(1, MAX_SIDE / Math.max(width, height));
  const short = Math.min(1, SHORT_SIDE / (Math.min(width, height) * fit));
  const scale = fit * short;
  const tiles = Math.ceil((width * scale) / TILE_SIDE) * Math.ceil((height * scale) / TILE_SIDE);
  return BASE + TILE * tiles;
};

/** Tokens of an image by tiles, of audio and files by a flat allowance; never by encoded length. */
export const openaiMediaTokens = (block: MediaBlock): number => {
  if (block.type === 'audio') return UNKNOWN_AUDIO;
  if (block.type === 'file') return UNKNOWN_FILE;
  if (block.detail === 'low') return BASE;
  const { width = 0, height = 0 } = block;
  return width > 0 && height > 0 ? imageTokens(width, height) : UNKNOWN_IMAGE;
};
