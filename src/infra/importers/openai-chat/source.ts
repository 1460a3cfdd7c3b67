import type { Json } from '../../../domain/json-value.js';
import { countNames, isList, isObject, member, textMember } from '../foreign.js';
import type { ChatDocument, Located } from './document.js';
import { locatedItems, locatedMember } from './document.js';

const bodyOf = (value: Json): Json => {
  const request = member(value, 'request');
  return isObject(request) ? request : value;
};

const declared = (value: Json): number | undefined => {
  const tools = member(bodyOf(value), 'tools');
  return isList(tools) ? tools.length : undefined;
};

const status = (value: Json): Json | undefined => member(value, 'status');

/** Nodes of a tree, parents first. */
export const nodesOf = (root: Located): readonly Located[] => {
  const nodes: Located[] = [];
  const waiting = [root];
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    nodes.push(node);
    for (const child of locatedItems(locatedMember(node, 'children'))) waiting.push(child);
  }
  return nodes;
};

const treeOf = (root: Located): Readonly<Record<string, unknown>> => {
  const nodes = nodesOf(root);
  return {
    node_types: countNames(nodes.map(({ value }) => textMember(value, 'node_type') ?? 'null')),
    nodes: nodes.length,
  };
};

/** What describes the document alone, whatever an importer makes of it. */
export const describeDocument = (document: ChatDocument): Readonly<Record<string, unknown>> => {
  const { value, lists, tree } = document;
  const [tools, code] = [declared(value), status(value)];
  const isSearch = isList(member(value, 'train_messages'));
  return {
    ...(isSearch ? { train_messages: lists.map((list) => list.length) } : {}),
    ...(tools === undefined ? {} : { tools_declared: tools }),
    ...(code === undefined ? {} : { response_status: code }),
    ...(tree === undefined ? {} : treeOf(tree)),
  };
};
