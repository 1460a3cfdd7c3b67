import * as E from 'fp-ts/lib/Either.js';
import { callKey, type BranchState } from '../domain/branch-state.js';
import {
  messageEvent,
  messageOf,
  type PreparedMessage,
} from '../domain/decide/prepared-message.js';
import {
  append,
  refuse,
  type Command,
  type Facts,
  type KeyRef,
  type Planned,
} from '../domain/decide/decision.js';
import { sealedFault, type BranchScope } from '../domain/decide/guards.js';
import type { StemmaFault } from '../domain/errors.js';
import type { ToolResultAttached } from '../domain/events/message-events.js';
import type { ImportedMessage, ImportedRecord } from '../domain/import-plan.js';
import { prepare, type MakeSlot } from '../domain/intake.js';
import { contentDigest, type AnsweredCall } from '../domain/message.js';
import type { Recorded } from '../domain/recorded.js';

/** Foreign record ids are looked up together with the system that gave them. */
export const recordKey = (system: string, record: string): KeyRef => ({
  kind: 'record',
  id: `${system} ${record}`,
});

export interface ImportBatch {
  readonly scope: BranchScope;
  readonly importId: string;
  readonly system: string;
  readonly items: readonly (ImportedMessage | ImportedRecord)[];
  readonly make: MakeSlot;
}

interface OpenForeign extends AnsweredCall {
  readonly key: string;
}

/** A result answers the newest open call with its id (data definitions, pairing). */
const takeOpen = (open: OpenForeign[], callId: string): AnsweredCall | undefined => {
  const at = open.findLastIndex((call) => call.callId === callId);
  const [found] = at < 0 ? [] : open.splice(at, 1);
  return found && { messageId: found.messageId, index: found.index, callId: found.callId };
};

const resultOf = (
  item: ImportedMessage,
  prepared: PreparedMessage,
  open: OpenForeign[],
  make: MakeSlot,
): ToolResultAttached => {
  const calls = item.answersCallIds.flatMap((id) => takeOpen(open, id) ?? []);
  const foreign = calls.length === 0 ? item.answersCallIds[0] : undefined;
  const { message } = item;
  const digested = {
    ...message,
    answers: calls,
    ...(foreign === undefined ? {} : { foreignCallId: foreign }),
  };
  return {
    message: { ...prepared.stored, contentDigest: contentDigest(digested) },
    calls,
    ...(foreign === undefined ? {} : { foreignCallId: make(foreign, 'call id') }),
    outcome: message.outcome ?? 'ok',
    ...(message.late === undefined ? {} : { late: message.late }),
  };
};

const issue = (open: OpenForeign[], { message }: ImportedMessage): void => {
  if (message.status !== 'confirmed') return;
  message.toolCalls.forEach((call, index) => {
    const ref = { messageId: message.id, index };
    open.push({ ...ref, callId: call.id, key: callKey(ref) });
  });
};

const planMessage = (batch: ImportBatch, item: ImportedMessage, open: OpenForeign[]): Planned => {
  const prepared = prepare(item.message, batch.make);
  const key = recordKey(batch.system, item.record);
  if (item.message.role !== 'tool') {
    issue(open, item);
    const planned = messageEvent(prepared);
    return { ...planned, keys: [...planned.keys, key] };
  }
  const data = resultOf(item, prepared, open, batch.make);
  const callKeys = data.calls.flatMap((call): readonly KeyRef[] => [
    { kind: 'call', id: callKey(call) },
    ...(call.callId === '' ? [] : [{ kind: 'call', id: call.callId } as const]),
  ]);
  return {
    event: { type: 'ToolResultAttached', data },
    keys: [{ kind: 'message', id: item.message.id }, ...callKeys, key],
  };
};

const planRecord = (batch: ImportBatch, item: ImportedRecord): Planned => ({
  event: {
    type: 'SourceRecordImported',
    data: {
      import: batch.importId,
      system: batch.system,
      kind: item.recordKind,
      recordKey: item.record,
      raw: batch.make(item.raw, 'raw'),
    },
  },
  keys: [recordKey(batch.system, item.record)],
});

/** A record that is known already must say the same (ID4); results are compared without their calls. */
const recordFault = (
  batch: ImportBatch,
  item: ImportedMessage | ImportedRecord,
  stored: Recorded,
): StemmaFault | undefined => {
  if (item.kind === 'record') return undefined;
  const { event } = stored;
  const message = messageOf(event);
  if (message === undefined) return undefined;
  const answers = event?.type === 'ToolResultAttached' ? event.data.calls : [];
  const [foreign] =
    event?.type === 'ToolResultAttached' && answers.length === 0 ? item.answersCallIds : [];
  const digest = contentDigest({
    ...item.message,
    answers,
    ...(foreign === undefined ? {} : { foreignCallId: foreign }),
  });
  return digest === message.contentDigest
    ? undefined
    : {
        _tag: 'RecordIdConflict',
        system: batch.system,
        recordId: item.record,
        digest,
        storedDigest: message.contentDigest,
      };
};

const keyOf = (batch: ImportBatch, item: { readonly record: string }): KeyRef =>
  recordKey(batch.system, item.record);

const idFault = (facts: Facts, item: ImportedMessage | ImportedRecord): StemmaFault | undefined => {
  if (item.kind === 'record') return undefined;
  const stored = facts.of('message', item.message.id)[0];
  return stored === undefined
    ? undefined
    : {
        _tag: 'MessageIdConflict',
        id: item.message.id,
        place: { branch: stored.meta.branch, revision: stored.revision },
        digest: contentDigest(item.message),
        storedDigest: messageOf(stored.event)?.contentDigest ?? '',
      };
};

/** Appends foreign items that this lineage does not know yet; importers hold no turn. */
export const importItems = (batch: ImportBatch): Command<BranchState, number> => ({
  name: 'import',
  keysOf: batch.items.flatMap((item) => [
    keyOf(batch, item),
    ...(item.kind === 'message' ? [{ kind: 'message', id: item.message.id } as const] : []),
  ]),
  decide: (state, facts) => {
    const fault = sealedFault(batch.scope, state);
    if (fault !== undefined) return refuse(fault);
    const open = [...state.calls.values()].map((call) => ({ ...call, key: callKey(call) }));
    const events: Planned[] = [];
    for (const item of batch.items) {
      const { id } = keyOf(batch, item);
      const [stored] = facts.of('record', id);
      const problem =
        stored === undefined ? idFault(facts, item) : recordFault(batch, item, stored);
      if (problem !== undefined) return E.left(problem);
      if (stored !== undefined) continue;
      events.push(
        item.kind === 'record' ? planRecord(batch, item) : planMessage(batch, item, open),
      );
    }
    return append(events);
  },
  answer: (_known, written) => written.length,
});
