import fc from "fast-check";
import { expect, test } from "vitest";
import { WholeLines } from "./relayStream";

test("every line is passed on once it has ended, however its bytes come, and what has not is what is left", () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom("\n", "\r\n", "data: é", "x"), { maxLength: 30 }), fc.array(fc.nat(60)), (parts, cuts) => {
      const bytes = Buffer.from(parts.join(""));
      const lines = new WholeLines();
      const ends = [...new Set([...cuts.filter((cut) => cut < bytes.length), bytes.length])].sort((a, b) => a - b);
      let passed = Buffer.alloc(0);
      let from = 0;
      for (const to of ends) {
        passed = Buffer.concat([passed, lines.feed(bytes.subarray(from, to))]);
        expect(passed).toEqual(bytes.subarray(0, bytes.subarray(0, to).lastIndexOf("\n") + 1));
        from = to;
      }
      expect(Buffer.concat([passed, lines.rest])).toEqual(bytes);
    }),
  );
});
