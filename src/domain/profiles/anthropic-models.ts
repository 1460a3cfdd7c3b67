import type { Capabilities } from './profile.js';

interface ModelRow {
  readonly name: RegExp;
  readonly capabilities: Capabilities;
}

// As of autumn 2026. A model that is not named here gets the defaults; the caller's own capabilities
// come before both.
const rows: readonly ModelRow[] = [
  {
    name: /^claude-(fable-5-1|(opus|sonnet|haiku)-5-5)/,
    capabilities: { prefill: false, systemInMessages: true, prefixBoundThinking: true },
  },
  {
    name: /^claude-(fable-5|(opus|sonnet|haiku)-5)/,
    capabilities: { prefill: false, systemInMessages: true },
  },
  { name: /^claude-opus-4-[89]/, capabilities: { prefill: false, systemInMessages: true } },
  { name: /^claude-(opus|sonnet|haiku)-4-[6-9]/, capabilities: { prefill: false } },
];

const defaults: Capabilities = {
  prefill: true,
  systemInMessages: false,
  prefixBoundThinking: false,
  thinkingRequiredInToolLoop: true,
};

/** What a model of this name can do, as far as that is known. */
export const modelCapabilities = (model: string): Capabilities => ({
  ...defaults,
  ...rows.find(({ name }) => name.test(model))?.capabilities,
});
