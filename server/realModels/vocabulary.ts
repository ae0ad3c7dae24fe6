/** Token ids of the arithmetic models: these three, then the characters. */
export const BEGIN = 0;
export const END = 1;
export const PAD = 2;

/** Printable ASCII and the line feed; every other character is dropped before a model sees it. */
const CHARACTERS: readonly string[] = [...Array.from({ length: 95 }, (_, at) => String.fromCharCode(32 + at)), "\n"];

/** All tokens in the order of their ids. */
export const TOKENS: readonly string[] = ["<s>", "</s>", "<pad>", ...CHARACTERS];

/** How many of the first tokens are no text. */
export const CONTROL_TOKENS = 3;

/** The characters that both tokenizers drop, as a regular expression of the `tokenizers` library and of JavaScript. */
export const DROPPED = "[^ -~\\n]";

/** Each message and a line feed; what follows is the answer. In the Jinja that vLLM and llama.cpp read. */
export const CHAT_TEMPLATE = "{{ bos_token }}{% for message in messages %}{{ message['content'] }}{{ '\\n' }}{% endfor %}";

const idOf: ReadonlyMap<string, number> = new Map(CHARACTERS.map((character, at) => [character, CONTROL_TOKENS + at]));

/** The ids of a text's characters, without begin and end; characters outside the vocabulary are left out. */
export function textTokens(text: string): readonly number[] {
  return Array.from(text, (character) => idOf.get(character)).filter((id) => id !== undefined);
}

/** Whether every character of a text is a token. */
export const isInVocabulary = (text: string): boolean => Array.from(text).every((character) => idOf.has(character));

/** The ids of a conversation under `CHAT_TEMPLATE`. */
export function conversationTokens(contents: readonly string[]): readonly number[] {
  return [BEGIN, ...contents.flatMap((content) => textTokens(`${content}\n`))];
}
