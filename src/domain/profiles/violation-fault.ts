import type { OrderRule, ReasoningRule, StemmaFault, ToolArgumentsRule } from '../errors.js';
import type { Profile, Violation } from './profile.js';

const at = (index: number | undefined): { readonly index?: number } =>
  index === undefined ? {} : { index };

/** The fault that a broken rule is refused with. */
export const violationFault = (profile: Pick<Profile, 'id'>, violation: Violation): StemmaFault => {
  const { rule, code, reason, index, ids } = violation;
  const path = violation.path ?? (index === undefined ? '/messages' : `/messages/${String(index)}`);
  switch (code) {
    case 'OpenToolCalls':
      return { _tag: code, ids, ...at(index) };
    case 'OrphanToolResult':
      return { _tag: code, callId: ids[0] ?? '' };
    case 'OrderViolation':
      return { _tag: code, rule: reason as OrderRule, profileRule: rule, ids, ...at(index) };
    case 'RoleNotSupported':
      return { _tag: code, role: violation.role ?? '', profile: profile.id, ...at(index) };
    case 'ToolArgumentsInvalid':
      return { _tag: code, ids, rule: reason as ToolArgumentsRule, profileRule: rule };
    case 'ReasoningRequired':
      return { _tag: code, id: ids[0] ?? '', rule: reason as ReasoningRule, profileRule: rule };
    case 'InvalidShape':
      return { _tag: code, path, expected: rule, ...at(index) };
    case 'IllFormedUnicode':
      return { _tag: code, path, ...(ids[0] === undefined ? {} : { id: ids[0] }) };
    case 'TooLarge':
      return { _tag: code, limit: 0 };
  }
};
