import { Readable } from "node:stream";
import { expect, test } from "vitest";
import { importMeasuredSteps } from "./importMeasuredSteps";

const steps = (...lines: string[]) =>
  importMeasuredSteps({ name: "steps.csv", stream: Readable.from([`prefill_tokens,sequences,kv_tokens,seconds\n${lines.join("\n")}\n`]) });

const whole = ["0,1,500,0.008", "0,1,2000,0.0082", "0,64,32000,0.011", "0,64,128000,0.016", "512,0,0,0.02", "4096,0,0,0.14"];

test("a table of measured steps becomes a step time that names the file", async () => {
  const read = await steps(...whole);
  if (!read.ok) throw new Error(read.message);
  expect(read.stepTime.provenance).toEqual([{ kind: "measured", source: "steps.csv: 6 measured steps" }]);
  expect(read.stepTime.decodeBaseSeconds(1)).toBeLessThan(0.0082);
});

test.each([
  [["0,1,500,abc"], "steps.csv line 2: seconds is 'abc'; write a number of 0 or more in plain digits"],
  [["0x1,1,500,0.1"], "steps.csv line 2: prefill_tokens is '0x1'; write a number of 0 or more in plain digits"],
  [["0,1e1,500,0.1"], "steps.csv line 2: sequences is '1e1'; write a number of 0 or more in plain digits"],
  [["0,1,500,1e300"], "steps.csv line 2: seconds is 1e+300; a step takes from 0.000001 to 3600 seconds"],
  [["0,-1,500,0.1"], "steps.csv line 2: sequences is '-1'; write a number of 0 or more in plain digits"],
  [["0,1,500,0"], "steps.csv line 2: seconds is 0; a step takes from 0.000001 to 3600 seconds"],
  [whole.slice(0, 2), "steps.csv: Decode steps of two numbers of sequences or more are needed, found 1."],
])("%j is refused with one sentence", async (lines, message) => {
  expect(await steps(...lines)).toEqual({ ok: false, message });
});

test("missing columns are named", async () => {
  const read = await importMeasuredSteps({ name: "steps.csv", stream: Readable.from(["tokens,seconds\n1,2\n"]) });
  expect(read).toMatchObject({ ok: false, message: expect.stringContaining("prefill_tokens, sequences, kv_tokens: no such column") });
});
