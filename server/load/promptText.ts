/** English text has about four characters a token. */
const charactersPerToken = 4;
/** Longest filler: beyond it the driver would measure the copying of text. */
const fillerTokens = 8_000;
const words = "the water of the upper basin rises to the edge of the weir and what is above it flows on to the next one ";
const filler = words.repeat(Math.ceil((fillerTokens * charactersPerToken) / words.length));

/** Text that says nothing and is about so many tokens long. */
export const fillerText = (tokens: number): string => filler.slice(0, Math.min(tokens, fillerTokens) * charactersPerToken);

/** By what an emulated engine knows which prompt it is asked. */
export const promptTag = (promptId: string): string => `[prompt ${promptId}] `;

/** A user message that names its prompt and is about as long as the prompt was. */
export function promptText(promptId: string, inputTokens: number): string {
  const tag = promptTag(promptId);
  const length = Math.min(inputTokens, fillerTokens) * charactersPerToken - tag.length;
  return tag + filler.slice(0, Math.max(0, length));
}
