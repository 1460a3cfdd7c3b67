import * as t from 'io-ts';
import type { Codec } from './codec.js';

declare const uidBrand: unique symbol;

/** 128 opaque bits as 22 base64url characters: names tenants, conversations and branches. */
export type Uid = string & { readonly [uidBrand]: 'Uid' };

const uidShape = /^[A-Za-z0-9_-]{22}$/;

export const isUid = (input: unknown): input is Uid =>
  typeof input === 'string' && uidShape.test(input);

export const Uid: Codec<Uid> = new t.Type<Uid, unknown, unknown>(
  'Uid',
  isUid,
  (input, context) => (isUid(input) ? t.success(input) : t.failure(input, context)),
  (value) => value,
);

/** The place of the directory and of tenant streams in the envelope, where no uid applies. */
export const NO_UID = '-';

/** 0-based place of an event in its stream. */
export type Revision = number;
