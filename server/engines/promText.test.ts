import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { file, needs } from "@/scripts/needs.mjs";
import { mostLineCharacters, PromParser, type PromText, parsePromText } from "./promText";

const samplesFolder = join(import.meta.dirname, "../../../shared/data/metrics");

/** Every sample of a text as [name, labels, value], in order within a name. */
const samplesOf = ({ byName }: PromText) =>
  [...byName].flatMap(([name, samples]) => samples.map(({ labels, value }) => [name, { ...labels }, value] as const));

/** Reads bytes in pieces that end at the given positions. */
function readInPieces(bytes: Uint8Array, cuts: readonly number[]): PromText {
  const parser = new PromParser();
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((left, right) => left - right), bytes.length];
  for (const [index, to] of places.entries()) if (index > 0) parser.write(bytes.subarray(places[index - 1], to));
  return parser.end();
}

describe("the text of Prometheus and OpenMetrics", () => {
  it("may escape quotes, backslashes and newlines, and hold commas and braces in label values", () => {
    const text = parsePromText(String.raw`m{a="say \"hi\", {you}",b="back\\slash",c="two\nlines", d = "#",} 3`);
    expect(text.badLines).toBe(0);
    expect(samplesOf(text)).toEqual([["m", { a: 'say "hi", {you}', b: "back\\slash", c: "two\nlines", d: "#" }, 3]]);
  });

  it("may hold NaN, infinities and exponents", () => {
    const text = parsePromText("a NaN\nb +Inf\nc -Inf\nd 1.5e-06\ne -0\nf nan\ng inf\nh +1E3\n");
    expect(text.badLines).toBe(0);
    expect(samplesOf(text).map(([, , value]) => value)).toEqual([Number.NaN, Infinity, -Infinity, 1.5e-6, -0, Number.NaN, Infinity, 1000]);
  });

  it("may hold timestamps, exemplars, empty label blocks, carriage returns, a byte order mark, and no TYPE", () => {
    const lines = [
      '\uFEFFa{} 1 1710000000000\r\nb_bucket{le="1"} 2 # {trace_id="x"} 0.5 1.7e9',
      "\t c   4",
      " \r",
      'd{x="y"}5 1.5 # {} 1',
      "# EOF\n",
    ];
    const text = parsePromText(lines.join("\n"));
    expect(text.bad).toEqual([]);
    expect(samplesOf(text)).toEqual([
      ["a", {}, 1],
      ["b_bucket", { le: "1" }, 2],
      ["c", {}, 4],
      ["d", { x: "y" }, 5],
    ]);
  });

  it("may name metrics and labels in quotes, as Prometheus 3 does", () => {
    const text = parsePromText('{"name.with.dots",a="b"} 1\n{ "näme \\"x\\"" } 2\nm{"label.dots"="c",b="d"} 3\n{a="b","last"} 4\n');
    expect(text.bad).toEqual([]);
    expect(samplesOf(text)).toEqual([
      ["name.with.dots", { a: "b" }, 1],
      ['näme "x"', {}, 2],
      ["m", { "label.dots": "c", b: "d" }, 3],
      ["last", { a: "b" }, 4],
    ]);
  });

  it("keeps apart several series of one name, and what `_created` says from its counter", () => {
    const text = parsePromText('m{engine="0"} 12\nother 1\nm{engine="1"} 9\nm_created{engine="1"} 1.7e9\nm{engine="0"} 13\n');
    expect(text.byName.get("m")?.map(({ labels, value }) => [labels.engine, value])).toEqual([
      ["0", 12],
      ["1", 9],
      ["0", 13],
    ]);
    expect(text.byName.get("m_created")).toHaveLength(1);
  });

  it("does not take labels for what an object inherits", () => {
    const text = parsePromText('m{__proto__="a",constructor="b"} 1\n');
    const labels = text.byName.get("m")?.[0]?.labels ?? {};
    expect(Object.entries(labels)).toEqual([
      ["__proto__", "a"],
      ["constructor", "b"],
    ]);
    expect(labels.toString).toBeUndefined();
  });

  it.each([
    ["no_value", "no value"],
    ["no_value{}", "no value"],
    ['bad{a="unclosed} 2', "a quote without an end"],
    ['bad{a="ends in \\', "a quote without an end"],
    ["bad{a=1} 3", "a label value without quotes"],
    ['bad{a="x" b="y"} 4', "no comma between labels"],
    ['bad{a="x"', "labels without an end"],
    ['bad{"other"} 4', "a label without a value"],
    ['bad{a,b="y"} 4', "a label without a value"],
    ['bad{,a="x"} 4', "no label name"],
    ["word five", "a value that is no number"],
    ["hex 0x10", "a value that is no number"],
    ["two.points 1", "no value"],
    ["late 1 noon", "a timestamp that is no number"],
    ["late 1 NaN", "a timestamp that is no number"],
    ["late 1 2 3", "more than a value and a timestamp"],
    ["1st 1", "no metric name"],
    ['{a="b"} 1', "no metric name"],
    ['{"message":"not found"}', "no comma between labels"],
  ])("is not read where a line says %j, which is counted and told, and the lines around it are", (line, reason) => {
    const text = parsePromText(`good 1\n${line}\ngood 2\n`);
    expect(text.byName.get("good")?.map(({ value }) => value)).toEqual([1, 2]);
    expect([...text.byName.keys()]).toEqual(["good"]);
    expect(text).toMatchObject({
      badLines: 1,
      bad: [{ line: 2, text: line, reason }],
    });
  });

  it("keeps the first five bad lines and their beginnings only", () => {
    const { bad, badLines } = parsePromText(`${"x".repeat(500)}\n`.repeat(9));
    expect(badLines).toBe(9);
    expect(bad.map(({ line, text }) => [line, text.length])).toEqual([1, 2, 3, 4, 5].map((line) => [line, 120]));
  });

  it("bounds what a line without an end may take, whole or in pieces", () => {
    const endless = Buffer.from(`a 1\nb{x="${"ü".repeat(4 * mostLineCharacters)}`);
    const after = Buffer.from('"} 1\nc 2\n');
    const parser = new PromParser();
    for (let at = 0; at < endless.length; at += 1000) parser.write(endless.subarray(at, at + 1000));
    for (let more = 0; more < 200; more += 1) parser.write(Buffer.alloc(100_000, 97));
    parser.write(after);
    const pieces = parser.end();
    const whole = parsePromText(Buffer.concat([endless, after]).toString());
    for (const text of [pieces, whole]) {
      expect(samplesOf(text)).toEqual([
        ["a", {}, 1],
        ["c", {}, 2],
      ]);
      expect(text).toMatchObject({ badLines: 1, bad: [{ line: 2, reason: "too long" }] });
    }
  });
});

describe("any exposition", () => {
  const bareName = fc.stringMatching(/^[a-zA-Z_:][a-zA-Z0-9_:]{0,20}$/);
  const labelName = fc.stringMatching(/^[a-zA-Z_][a-zA-Z0-9_]{0,10}$/);
  const anyText = fc.string({ unit: "grapheme", maxLength: 20 });
  const quoted = (text: string) => `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")}"`;
  const value = fc.oneof(fc.double(), fc.integer(), fc.constantFrom(Number.NaN, Infinity, -Infinity));
  const written = (number: number) => (Object.is(number, -0) ? "-0" : String(number).replace("inity", ""));
  const sample = fc.record({
    name: fc.oneof(
      bareName,
      anyText.filter((name) => name !== ""),
    ),
    labels: fc.uniqueArray(fc.tuple(fc.oneof(labelName, anyText), anyText), { selector: ([label]) => label, maxLength: 5 }),
    value,
    timestamp: fc.option(fc.integer(), { nil: undefined }),
    exemplar: fc.boolean(),
    comment: fc.option(
      anyText.map((text) => `# HELP ${text.replaceAll(/[\n\r]/g, " ")}`),
      { nil: undefined },
    ),
    end: fc.constantFrom("\n", "\r\n", " \n", "\n\n"),
  });
  const line = (one: typeof sample extends fc.Arbitrary<infer Sample> ? Sample : never): string => {
    const bare = /^[a-zA-Z_:][a-zA-Z0-9_:]*$/.test(one.name);
    const labels = one.labels.map(([label, text]) => `${/^[a-zA-Z_]\w*$/.test(label) ? label : quoted(label)}=${quoted(text)}`);
    const block = [...(bare ? [] : [quoted(one.name)]), ...labels];
    const head = `${bare ? one.name : ""}${block.length > 0 ? `{${block.join(",")}}` : ""}`;
    const tail = `${one.timestamp === undefined ? "" : ` ${one.timestamp}`}${one.exemplar ? ' # {trace_id="a"} 1' : ""}`;
    return `${one.comment === undefined ? "" : `${one.comment}\n`}${head} ${written(one.value)}${tail}${one.end}`;
  };

  it("is read back as it was written, cut anywhere on its way", () => {
    fc.assert(
      fc.property(fc.array(sample, { maxLength: 12 }), fc.array(fc.nat(), { maxLength: 12 }), (samples, cuts) => {
        const text = samples.map(line).join("");
        const expected = samples.map(({ name, labels, value: number }) => [name, Object.fromEntries(labels), number]);
        for (const read of [parsePromText(text), readInPieces(Buffer.from(text), cuts)]) {
          expect(read.bad).toEqual([]);
          const names = [...new Set(samples.map(({ name }) => name))];
          expect(samplesOf(read)).toEqual(names.flatMap((own) => expected.filter(([name]) => name === own)));
        }
      }),
      { numRuns: 500 },
    );
  });

  it("is read alike whole and cut anywhere, whatever its bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(), { maxLength: 8 }), (bytes, cuts) => {
        const whole = parsePromText(Buffer.from(bytes).toString());
        const pieces = readInPieces(bytes, cuts);
        expect(samplesOf(pieces)).toEqual(samplesOf(whole));
        expect(pieces.bad).toEqual(whole.bad);
      }),
      { numRuns: 500 },
    );
  });
});

describe("captured expositions", needs(file(samplesFolder)), () => {
  const files = existsSync(samplesFolder) ? readdirSync(samplesFolder).filter((file) => file.endsWith(".prom")) : [];

  it.each(files)("every line of %s is read", (file) => {
    const text = readFileSync(join(samplesFolder, file), "utf8");
    const read = parsePromText(text);
    const lines = text.split("\n").filter((line) => line.trim() !== "" && !line.startsWith("#"));
    expect(read.bad).toEqual([]);
    expect(samplesOf(read)).toHaveLength(lines.length);
  });
});
