import { expect, it, vi } from "vitest";
import { chatEndpoint } from "./chatEndpoint";
import { modelRequestOf } from "./modelRequest";

const value = { model: "m", messages: [{ role: "user", content: "q" }] };
const text = JSON.stringify(value);

/** The request of a body to which its endpoint adds bytes. */
function asked(addedBytes: number, grow: (bytes: number) => boolean) {
  const endpoint = { ...chatEndpoint, chatBody: () => ({ body: value, addedBytes }) };
  const ids = { requestId: "r", decisionId: "d" };
  const taken = { value, text: () => text, byteLength: 400, bytes: Buffer.from(text) };
  return modelRequestOf(taken, { ids, endpoint, headers: {}, key: null, passAuthorization: false, grow });
}

it("counts what its endpoint adds to the body among the prompt's tokens, and reserves its memory", () => {
  const grow = vi.fn(() => true);
  expect(asked(4000, grow)).toMatchObject({ ok: true, asked: { inputTokens: 1100 } });
  expect(grow.mock.calls).toEqual([[4000]]);
});

it("is refused where no memory is left for it", () => {
  expect(asked(4000, () => false)).toMatchObject({ ok: false, error: { status: 503, code: "no_room" } });
});
