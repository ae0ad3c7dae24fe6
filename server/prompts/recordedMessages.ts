/** As the gateway writes a conversation into a record: each message on a new line after its role. */
const turn = /(?:^|\n)(system|developer|user|assistant|tool|function): /g;

/**
 * The conversation of a prompt as a decision record keeps it, which is text alone. A line within a message that begins with a role reads as
 * a message of its own: records do not tell them apart. Text without a role at its beginning is a prompt of the completions endpoint.
 *
 * @returns messages, or in some words why they cannot be asked again.
 */
export function recordedMessages(prompt: string): readonly { readonly role: string; readonly content: string }[] | string {
  const turns = [...prompt.matchAll(turn)];
  if (turns[0]?.index !== 0) return [{ role: "user", content: prompt }];
  const messages = turns.map(({ 0: begun, 1: role = "", index }, at) => ({
    role,
    content: prompt.slice(index + begun.length, turns[at + 1]?.index),
  }));
  const hasTools = messages.some(({ role }) => role === "tool" || role === "function");
  return hasTools ? "its conversation has messages of tools, which records keep as text only" : messages;
}
