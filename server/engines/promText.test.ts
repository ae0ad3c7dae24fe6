import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parsePromText } from "./promText";

const SAMPLES = join(import.meta.dirname, "../../../shared/data/metrics");

describe("parsePromText", () => {
  it("reads escaped quotes, backslashes, newlines, commas and braces in label values", () => {
    const { byName, badLines } = parsePromText(String.raw`m{a="say \"hi\", {you}",b="back\\slash",c="two\nlines",} 3`);
    expect(badLines).toBe(0);
    expect(byName.get("m")).toEqual([{ labels: { a: 'say "hi", {you}', b: "back\\slash", c: "two\nlines" }, value: 3 }]);
  });

  it("reads NaN, infinities and exponents as the numbers they are", () => {
    const { byName, badLines } = parsePromText("a NaN\nb +Inf\nc -Inf\nd 1.5e-06\n");
    expect(badLines).toBe(0);
    expect(byName.get("a")?.[0]?.value).toBeNaN();
    expect(byName.get("b")?.[0]?.value).toBe(Number.POSITIVE_INFINITY);
    expect(byName.get("c")?.[0]?.value).toBe(Number.NEGATIVE_INFINITY);
    expect(byName.get("d")?.[0]?.value).toBe(1.5e-6);
  });

  it("accepts timestamps, exemplars, empty label blocks, carriage returns and a missing TYPE", () => {
    const text = 'a{} 1 1710000000000\r\nb_bucket{le="1"} 2 # {trace_id="x"} 0.5 1.7e9\nc   4\n# EOF\n';
    const { byName, badLines } = parsePromText(text);
    expect(badLines).toBe(0);
    expect([...byName].map(([name, [first]]) => [name, first?.value])).toEqual([
      ["a", 1],
      ["b_bucket", 2],
      ["c", 4],
    ]);
  });

  it("counts what it cannot read and keeps the lines around it", () => {
    const text = 'good 1\nno_value\nbad{a="unclosed} 2\nbad{a=1} 3\nbad{a="x" b="y"} 4\nword five\nlate 1 noon\ngood 2\n';
    const { byName, badLines } = parsePromText(text);
    expect(byName.get("good")?.map((sample) => sample.value)).toEqual([1, 2]);
    expect(badLines).toBe(6);
  });

  it("keeps several series of one name apart", () => {
    const { byName } = parsePromText('m{engine="0"} 12\nm{engine="1"} 9\n');
    expect(byName.get("m")?.map((sample) => [sample.labels.engine, sample.value])).toEqual([
      ["0", 12],
      ["1", 9],
    ]);
  });

  describe.skipIf(!existsSync(SAMPLES))("on captured expositions (skipped where ../shared/data/metrics is missing)", () => {
    const files = existsSync(SAMPLES) ? readdirSync(SAMPLES) : [];

    it.each(files.filter((file) => file.endsWith(".prom")))("reads every line of %s", (file) => {
      const text = readFileSync(join(SAMPLES, file), "utf8");
      const { byName, badLines } = parsePromText(text);
      const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
      const read = [...byName.values()].reduce((sum, samples) => sum + samples.length, 0);
      expect(badLines).toBe(0);
      expect(read).toBe(lines.length);
    });

    it.each(files.filter((file) => !file.endsWith(".prom")))("survives %s, which is no exposition", (file) => {
      expect(() => parsePromText(readFileSync(join(SAMPLES, file), "utf8"))).not.toThrow();
    });
  });
});
