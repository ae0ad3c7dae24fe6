import fc from "fast-check";
import { expect, it } from "vitest";
import { ownerOf } from "./whosePrompt";

const name = fc.oneof(fc.string({ unit: "grapheme" }), fc.constantFrom('"}', '\\"', "{}", '"metadata":{"key":"x"}', "\\"));

it("reads whose a captured prompt is, whatever names and prompts have in them", () => {
  const line = fc.record({
    id: name,
    atMs: fc.nat(),
    category: name,
    key: fc.option(name),
    objective: fc.option(name),
    user: fc.option(name),
    said: name,
  });
  fc.assert(
    fc.property(line, ({ id, atMs, category, key, objective, user, said }) => {
      const metadata = { key, objective, inputTokens: 3, ...(user === null ? {} : { user }) };
      const text = JSON.stringify({ id, atMs, category, metadata, messages: [{ role: "user", content: said }] });
      expect(ownerOf(text)).toEqual({ key, user });
    }),
    { numRuns: 1000 },
  );
});

it("takes nothing else for a captured prompt", () => {
  for (const text of ["", "{}", '{"id":"a"}', '{"messages":[],"metadata":{"key":"ann"}}', "x".repeat(100_000)])
    expect(ownerOf(text)).toBeNull();
});
