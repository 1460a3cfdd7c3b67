/** Where a command writes; `columns` is the width of a terminal. */
export interface Output {
  readonly write: (text: string) => void;
  readonly isTTY: boolean;
  readonly columns?: number;
}

/** Everything of the machine that the command line sees; a test hands in its own. */
export interface Io {
  /** Arguments behind the name of the program. */
  readonly argv: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Bytes of standard input, read when a command asks for them. */
  readonly stdin: () => AsyncIterable<Uint8Array>;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Aborted by Ctrl-C. */
  readonly signal: AbortSignal;
  /** The clock, for tests: milliseconds since 1970. */
  readonly now?: () => number;
}

type Stream = NodeJS.WriteStream & { readonly columns?: number };

const outputOf = (stream: Stream): Output => ({
  write: (text) => {
    stream.write(text);
  },
  isTTY: stream.isTTY,
  ...(stream.isTTY ? { columns: stream.columns } : {}),
});

/** The process itself. */
export const processIo = (signal: AbortSignal): Io => ({
  argv: process.argv.slice(2),
  env: process.env,
  cwd: process.cwd(),
  stdin: () => process.stdin as AsyncIterable<Uint8Array>,
  stdout: outputOf(process.stdout),
  stderr: outputOf(process.stderr),
  signal,
});
