/** A tool as it is offered to a model. Parameters are a JSON Schema object. */
export interface ToolDefinition {
  readonly name: string;
  readonly description?: string;
  readonly parameters?: Readonly<Record<string, unknown>>;
}
