import { describeFault } from '../../domain/error-table.js';
import type { StemmaFault } from '../../domain/errors.js';
import type { Io } from './io.js';
import { schemaName, type Look } from './result.js';
import { oneLine, safeJson } from './terminal-text.js';

const LINE = 1_000;

/** What helps here and is not the same for every fault of the kind. */
const adviceFor = (fault: StemmaFault, look: Pick<Look, 'words'>): string | undefined => {
  const { text } = look.words;
  if (fault._tag === 'Unavailable' && fault.reason === 'path') return text.adviceNoStore;
  if (fault._tag === 'InvalidArgument' && fault.reason === 'ambiguous') return text.adviceAmbiguous;
  if (fault._tag === 'OrphanToolResult' || fault._tag === 'OpenToolCalls') {
    return text.adviceOpenCalls;
  }
  return fault._tag === 'TurnOpen' ? text.adviceTurnOpen : undefined;
};

/** Writes a fault to standard error, as lines or as JSON, and gives its exit code. */
export const reportFault = (
  { stderr }: Io,
  look: Pick<Look, 'words' | 'format' | 'paint'>,
  fault: StemmaFault,
  more: { readonly suggestion?: string; readonly subject?: string } = {},
): number => {
  const { code, message, hint, exit } = describeFault(fault);
  const { subject } = more;
  const advice = more.suggestion ?? adviceFor(fault, look);
  if (look.format !== 'text') {
    const error = { code, message, hint, exit, data: fault, subject, advice };
    const indent = look.format === 'json' ? 2 : 0;
    stderr.write(`${safeJson({ schema: schemaName('error'), error }, indent)}\n`);
    return exit;
  }
  const { text } = look.words;
  const said = [
    `${look.paint.bad(text.error)}  ${code}  ${oneLine(message, LINE)}`,
    ...(subject === undefined ? [] : [`${text.about}  ${oneLine(subject, LINE)}`]),
    `${text.hint}  ${oneLine(hint, LINE)}`,
    ...(advice === undefined ? [] : [`${text.hint}  ${oneLine(advice, LINE)}`]),
  ];
  stderr.write(`${said.join('\n')}\n`);
  return exit;
};
