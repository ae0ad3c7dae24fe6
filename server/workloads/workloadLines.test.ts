import fc from "fast-check";
import { expect, test } from "vitest";
import { generatedWorkload } from "@/solver/workload/generated";
import type { Workload } from "@/solver/workload/workload";
import { importWorkloadLines } from "../planning/imports/importWorkloadLines";
import { describeWorkload } from "./describeWorkload";
import { decodeWorkload, encodeWorkload, workloadHash } from "./workloadCodec";
import { workloadLines } from "./workloadLines";

const workload = generatedWorkload({ prompts: 30, seed: 1 });
const written = [...workloadLines(workload)];

const read = (lines: readonly string[], name = "support.jsonl") => importWorkloadLines({ name, stream: bytesOf(lines.join("")) });

/** In chunks that fall anywhere, as a network cuts them. */
async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += 997) yield bytes.subarray(at, at + 997);
}

const refusal = async (lines: readonly string[]): Promise<string> => {
  const result = await read(lines);
  return result.ok ? "imported" : result.message;
};

const edited = (at: number, edit: (line: string) => string): readonly string[] =>
  written.map((line, row) => (row === at ? edit(line) : line));

test("a workload comes back from its lines as it was, with the same hash", async () => {
  const back = await read(written);
  expect(back).toEqual({ ok: true, workload });
  expect(back.ok && workloadHash(back.workload)).toBe(workloadHash(workload));
});

test("scores of further gates come back, and lines that lack one or have one too many are named", async () => {
  const models = workload.outcomes.models.map((model, at) =>
    at === 0 ? { ...model, confidence: model.judged, agreement: model.label } : model,
  );
  const scored: Workload = { ...workload, outcomes: { ...workload.outcomes, models } };
  const lines = [...workloadLines(scored)];
  const back = await read(lines);
  expect(back).toEqual({ ok: true, workload: scored });
  expect(back.ok && workloadHash(back.workload)).toBe(workloadHash(scored));
  const [, first = ""] = lines;
  const lacking = lines.with(1, first.replace(/,"agreement":[\d.]+/, ""));
  expect(await refusal(lacking)).toContain("line 2: models.qwen2.5-3b.agreement is missing");
  const twoMore = written.with(1, (written[1] ?? "").replace(/"judged":/, '"confidence":50,"judged":'));
  expect(await refusal(twoMore)).toContain("models.qwen2.5-3b.confidence is not among the columns of the first line");
  expect(await refusal(lines.with(1, first.replace(/"agreement":[\d.]+/, '"agreement":101')))).toContain("give a score from 0 to 100");
});

test("what the columns of gates hold goes along into lines and into the store, and changes the hash", async () => {
  const words = { buckets: [3, 700], idf: [1.5, 2], weights: [0.25, -1] };
  const scorer = {
    bias: 0.5,
    weights: [{ feature: "log-answer-tokens" as const, mean: 2, scale: 1, weight: -1 }],
    words: { prompt: words, answer: words },
  };
  const models = workload.outcomes.models.map((model, at) =>
    at === 0 ? { ...model, confidence: model.judged, scorer: model.label } : model,
  );
  const [small = ""] = models.map(({ model }) => model);
  const scored: Workload = {
    ...workload,
    outcomes: { ...workload.outcomes, models },
    origin: { ...workload.origin, confidence: { measure: "last-tokens", lastTokens: 3 }, scorers: { [small]: scorer } },
  };
  expect(await read([...workloadLines(scored)])).toEqual({ ok: true, workload: scored });
  expect(decodeWorkload(encodeWorkload(scored))).toEqual(scored);
  for (const silent of ["confidence", "scorers"])
    expect(workloadHash({ ...scored, origin: { ...scored.origin, [silent]: undefined } })).not.toBe(workloadHash(scored));
});

test("hashes of what prompts share come back from lines and store, and are in the hash; a table without them keeps its own", async () => {
  const promptBlocks = workload.outcomes.promptIds.map((_, row) => Uint32Array.from({ length: row % 3 }, (_, at) => 2 ** 32 - 1 - at));
  const shared: Workload = { ...workload, outcomes: { ...workload.outcomes, promptBlocks } };
  const lines = [...workloadLines(shared)];
  expect(await read(lines)).toEqual({ ok: true, workload: shared });
  expect(decodeWorkload(encodeWorkload(shared))).toEqual(shared);
  expect(workloadHash(shared)).not.toBe(workloadHash(workload));
  expect(await refusal(lines.with(2, (lines[2] ?? "").replace("[4294967295]", "[4294967296]")))).toContain("line 3: promptBlocks.0");
});

test("by which measures a profile scored it, and that its answers were emulated, goes along into lines and into the store", async () => {
  const measured = { emulated: true, gate: { id: "gate", name: "Judge" }, label: { id: "right", name: "Reference" } };
  const ofProfile: Workload = { ...workload, origin: { ...workload.origin, measured } };
  const back = await read([...workloadLines(ofProfile)]);
  expect(back.ok && back.workload.origin.measured).toEqual(measured);
  expect(decodeWorkload(encodeWorkload(ofProfile)).origin.measured).toEqual(measured);
  expect(describeWorkload(ofProfile).measured).toEqual(measured);
});

test("any numbers and words come back as they were", async () => {
  const score = fc.oneof(fc.constant(-0), fc.double({ min: 0, max: 100, noNaN: true }));
  const word = fc.string({ minLength: 1, maxLength: 30, unit: "grapheme" }).filter((text) => /^[^[\]\p{Cc}]+$/u.test(text));
  await fc.assert(
    fc.asyncProperty(
      fc.uniqueArray(word, { minLength: 2, maxLength: 6 }),
      fc.uniqueArray(
        word.filter((name) => name !== "__proto__"),
        { minLength: 1, maxLength: 3 },
      ),
      fc.array(score, { minLength: 18, maxLength: 18 }),
      word,
      async (ids, names, scores, category) => {
        const columns = names.map((model, column) => ({
          model,
          tableName: model,
          outputTokens: Int32Array.from(ids, (_, row) => 1 + row),
          label: Float64Array.from(ids, (_, row) => scores[column * 6 + row] ?? 0),
          judged: Float64Array.from(ids, (_, row) => scores[17 - column * 6 - row] ?? 0),
        }));
        const any: Workload = {
          ...workload,
          arrivalSeconds: workload.arrivalSeconds.slice(0, 50),
          outcomes: { promptIds: ids, categories: ids.map(() => category), inputTokens: Int32Array.from(ids, () => 7), models: columns },
        };
        expect(await read([...workloadLines(any)])).toEqual({ ok: true, workload: any });
      },
    ),
    { numRuns: 40 },
  );
});

test("a line that is no JSON is named", async () => {
  expect(await refusal(edited(7, () => '{"id": "half\n'))).toBe("support.jsonl line 8: is not a JSON object. Nothing was imported.");
});

test("a problem that many lines share is said once, with their count", async () => {
  const spoilt = written.map((line, at) => (at > 0 && at < 6 ? "half\n" : line));
  expect(await refusal(spoilt)).toBe("support.jsonl, 5 rows (lines 2, 3, 4 …): is not a JSON object. Nothing was imported.");
});

test("a value out of its range is named by line and field", async () => {
  const spoilt = edited(3, (line) => line.replace(/"label":[^,]+/, '"label":140'));
  expect(await refusal(spoilt)).toMatch(/^support\.jsonl line 4: models\..*\.label: give a score from 0 to 100\./);
});

test("a number that was changed within its range is found by the hash", async () => {
  const changed = edited(3, (line) => line.replace(/"inputTokens":\d+/, '"inputTokens":12345'));
  expect(await refusal(changed)).toContain("not those that its hash was made of");
});

test("a file without a hash is taken as it is", async () => {
  const noHash = edited(0, (line) => line.replace(/,"hash":"[0-9a-f]+"/, "")).map((line, row) =>
    row === 3 ? line.replace(/"inputTokens":\d+/, '"inputTokens":12345') : line,
  );
  const back = await read(noHash);
  expect(back.ok && back.workload.outcomes.inputTokens[2]).toBe(12345);
});

test("lines that are missing or twice are told, wherever the file was cut", async () => {
  expect(await refusal(written.filter((_, row) => row !== 5))).toMatch(
    /4 rows \(lines 31, 32, 33 …\): arrivals come after 29 of 30 prompts/,
  );
  expect(await refusal(written.slice(0, 9))).toMatch(/ends with line 9 after 8 of 30 prompts: it is cut short/);
  expect(await refusal(written.slice(0, -1))).toMatch(/of 20000 arrivals: it is cut short/);
  expect(await refusal([...written.slice(0, 4), written[3] ?? "", ...written.slice(4)])).toMatch(/line 5: prompt '.*' is in it twice/);
});

test("any byte that is lost is noticed", async () => {
  const text = written.join("");
  await fc.assert(
    fc.asyncProperty(fc.nat(text.length - 2), async (at) => {
      const back = await read([text.slice(0, at), text.slice(at + 1)]);
      // Words are not part of what a plan depends on; all else must be refused.
      if (back.ok) expect(workloadHash(back.workload)).toBe(workloadHash(workload));
    }),
    { numRuns: 30 },
  );
});

test("arrivals that are all at one time are refused, whichever it is", async () => {
  const { hash: _, ...header } = JSON.parse(written[0] ?? "") as Record<string, unknown>;
  const lines = [JSON.stringify({ ...header, arrivals: 2 }), ...written.slice(1, 31), '{"arrivalSeconds":[5,5]}'].map(
    (line) => `${line.trim()}\n`,
  );
  expect(await refusal(lines)).toMatch(/line 32: all arrivals are at 5 s/);
});

test("a model of the one name that no entry of an object can have is refused", async () => {
  const named = edited(0, (line) => line.replace(`"model":"${workload.outcomes.models[0]?.model}"`, '"model":"__proto__"'));
  expect(await refusal(named)).toBe("support.jsonl line 1: models.0.model: is no name that a model can have. Nothing was imported.");
});

test("a table of other things is refused by its first line", async () => {
  expect(await refusal(["task,metric,prompt_id\n"])).toMatch(/line 1: it is no workload/);
  expect(await refusal([])).toMatch(/is empty/);
});
