// Wire types of Anthropic Messages, as far as a history needs them. Lists are mutable, so that a body
// can be handed to the provider's SDK as it is.

export interface AnthropicText {
  type: 'text';
  text: string;
}
export type AnthropicSource =
  | { type: 'base64'; media_type: string; data: string }
  | { type: 'url'; url: string }
  | { type: 'file'; file_id: string };
export interface AnthropicImage {
  type: 'image';
  source: AnthropicSource;
}
export interface AnthropicDocument {
  type: 'document';
  source: AnthropicSource;
  title?: string;
}
export interface AnthropicThinking {
  type: 'thinking';
  thinking: string;
  signature: string;
}
export interface AnthropicRedacted {
  type: 'redacted_thinking';
  data: string;
}
export interface AnthropicToolUse {
  type: 'tool_use';
  id: string;
  name: string;
  input: unknown;
}
export interface AnthropicToolResult {
  type: 'tool_result';
  tool_use_id: string;
  content?: string | (AnthropicText | AnthropicImage | AnthropicDocument)[];
  is_error?: boolean;
}
/** A block of the provider that is sent back as it came (server tools, compaction …). */
export interface AnthropicOpaque {
  type: 'opaque';
}
export type AnthropicBlock =
  | AnthropicText
  | AnthropicImage
  | AnthropicDocument
  | AnthropicThinking
  | AnthropicRedacted
  | AnthropicToolUse
  | AnthropicToolResult
  | AnthropicOpaque;

export interface AnthropicMessage {
  role: 'user' | 'assistant' | 'system';
  content: string | AnthropicBlock[];
}

export interface AnthropicTool {
  name: string;
  description?: string;
  input_schema: Record<string, unknown>;
}

export interface AnthropicThinkingConfig {
  type: 'enabled' | 'adaptive' | 'disabled';
  budget_tokens?: number;
  block_binding?: { prefix_mismatch_behavior: 'drop_block' | 'error' };
}

/** Body of a request. Parameters of the caller stand behind these fields, by name. */
export interface AnthropicBody {
  model: string;
  max_tokens: number;
  system?: string;
  tools?: AnthropicTool[];
  messages: AnthropicMessage[];
  thinking?: AnthropicThinkingConfig;
}
