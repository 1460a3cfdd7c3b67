import { isUid, type Uid } from './ids.js';

/** Streams are named by uids alone, so that no text of a person can shape a name (architecture.md). */
export const branchStream = (tenant: Uid, conversation: Uid, branch: Uid): string =>
  `branch-${tenant}.${conversation}.${branch}`;

export const directoryStream = (tenant: Uid, conversation: Uid): string =>
  `conversation-${tenant}.${conversation}`;

export const governanceStream = (tenant: Uid): string => `governance-${tenant}`;

export const IDENTITY_STREAM = 'store-identity';

export type StreamName =
  | {
      readonly kind: 'branch';
      readonly tenant: Uid;
      readonly conversation: Uid;
      readonly branch: Uid;
    }
  | { readonly kind: 'conversation'; readonly tenant: Uid; readonly conversation: Uid }
  | { readonly kind: 'governance'; readonly tenant: Uid };

/** Reads a name made here; undefined for any other. */
export const parseStream = (name: string): StreamName | undefined => {
  const dash = name.indexOf('-');
  const category = name.slice(0, dash);
  const [tenant, conversation, branch, ...rest] = name.slice(dash + 1).split('.');
  if (dash < 0 || rest.length > 0 || !isUid(tenant)) return undefined;
  if (category === 'governance') {
    return conversation === undefined ? { kind: 'governance', tenant } : undefined;
  }
  if (!isUid(conversation)) return undefined;
  if (category === 'conversation') {
    return branch === undefined ? { kind: 'conversation', tenant, conversation } : undefined;
  }
  return category === 'branch' && isUid(branch)
    ? { kind: 'branch', tenant, conversation, branch }
    : undefined;
};

export const categoryOf = (name: string): string => {
  const dash = name.indexOf('-');
  return dash < 0 ? name : name.slice(0, dash);
};
