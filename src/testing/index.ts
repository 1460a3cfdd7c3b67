export { refusalOf, valueOf } from './answers.js';
export { readFeed, type FeedReader } from './feed-reader.js';
export { heldBackKeys, type HeldKeys } from './held-back-keys.js';
export type { Ability, OpenedStores, StoreCase } from './opened-stores.js';
export { sampleBatch, sampleEvent, type Batch, type Sample } from './sample-events.js';
export { storeCases, storeContract } from './store-contract.js';
