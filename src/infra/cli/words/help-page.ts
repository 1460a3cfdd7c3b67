/** What the help of one command says. */
export interface HelpPage {
  readonly summary: string;
  /** Without the name of the program. */
  readonly examples: readonly string[];
}
