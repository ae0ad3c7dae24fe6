import type { ToolCall } from "./toolCall";

/** The form that a request gives to its answer: writes it around a text. */
export type AnswerForm = (text: string) => string;

/** A request to generate, from either of OpenAI's endpoints, with the fields that the emulation uses. */
export interface GenerationRequest {
  readonly endpoint: "chat" | "text";
  /** The served name; null: the engine's only one. */
  readonly model: string | null;
  /** One of a chat; any number of texts. */
  readonly prompts: readonly PromptText[];
  readonly stream: boolean;
  /** A last event of a stream with the usage, and the usage so far in every event. */
  readonly usage: { readonly last: boolean; readonly running: boolean };
  /** Most tokens of an answer; null: as many as fit. 0 with `echo` only: the prompt alone comes back. */
  readonly maxTokens: number | null;
  readonly minTokens: number;
  /** An answer continues up to `maxTokens`. */
  readonly ignoreEos: boolean;
  /** Answers to each prompt. */
  readonly choices: number;
  /** Texts before which an answer ends. */
  readonly stop: readonly string[];
  /** How many tokens each token's log probabilities name besides its own; null: none are wanted. */
  readonly logprobs: number | null;
  /** The same for the prompt's tokens. */
  readonly promptLogprobs: number | null;
  /** The prompt comes before the answer. */
  readonly echo: boolean;
  readonly tokenIds: boolean;
  /** Tools are there that the model may call. */
  readonly hasTools: boolean;
  /** The call with which it is answered; null: none. */
  readonly call: ToolCall | null;
  /** The form of an answer that is no call; null: plain text. */
  readonly form: AnswerForm | null;
}

/** What is to be continued or answered. */
export interface PromptText {
  readonly text: string;
  /** Length of a prompt that was given as token ids, whose text is then unknown and empty; null: it was given as text. */
  readonly tokens: number | null;
}
