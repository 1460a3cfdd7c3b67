// Wire types of OpenAI Chat Completions, as far as a history needs them. Lists are mutable, so that
// a body can be handed to the provider's SDK as it is.

export interface OpenAITextPart {
  type: 'text';
  text: string;
}
export interface OpenAIImagePart {
  type: 'image_url';
  image_url: { url: string; detail?: 'auto' | 'low' | 'high' };
}
export interface OpenAIAudioPart {
  type: 'input_audio';
  input_audio: { data: string; format: 'wav' | 'mp3' };
}
export interface OpenAIFilePart {
  type: 'file';
  file: { file_data?: string; file_id?: string; filename?: string };
}
export interface OpenAIRefusalPart {
  type: 'refusal';
  refusal: string;
}
export type OpenAIUserPart = OpenAITextPart | OpenAIImagePart | OpenAIAudioPart | OpenAIFilePart;

export interface OpenAIToolCall {
  id: string;
  type: 'function';
  function: { name: string; arguments: string };
}

export interface OpenAISystemMessage {
  role: 'system';
  content: string | OpenAITextPart[];
  name?: string;
}
export interface OpenAIDeveloperMessage {
  role: 'developer';
  content: string | OpenAITextPart[];
  name?: string;
}
export interface OpenAIUserMessage {
  role: 'user';
  content: string | OpenAIUserPart[];
  name?: string;
}
export interface OpenAIAssistantMessage {
  role: 'assistant';
  content: string | (OpenAITextPart | OpenAIRefusalPart)[] | null;
  refusal?: string | null;
  name?: string;
  tool_calls?: OpenAIToolCall[];
}
export interface OpenAIToolMessage {
  role: 'tool';
  tool_call_id: string;
  content: string | OpenAITextPart[];
}
export type OpenAIMessage =
  | OpenAISystemMessage
  | OpenAIDeveloperMessage
  | OpenAIUserMessage
  | OpenAIAssistantMessage
  | OpenAIToolMessage;

export interface OpenAITool {
  type: 'function';
  function: { name: string; description?: string; parameters?: Record<string, unknown> };
}

/** Body of a request. Parameters of the caller stand behind these fields, by name. */
export interface OpenAIChatBody {
  model: string;
  messages: OpenAIMessage[];
  tools?: OpenAITool[];
}
