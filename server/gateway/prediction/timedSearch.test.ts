import { afterEach, expect, it, vi } from "vitest";
import { decodeArtefact } from "@/solver/prediction/artefact";
import { configurationPredictor, type SearchOptions } from "@/solver/prediction/configurations";
import type { ConfigurationSearch } from "@/solver/prediction/predictor";
import { sketchOf } from "@/solver/words/sketch";
import { countOf, hasConfiguration, intersection, membersOf } from "@/solver/workflow/configurationSet";
import { MovingMean } from "../lib/movingMean";
import { longText, shortText, testConfigurations } from "../testing/testPredictors";
import { ladder, voting } from "../testing/testRounds";
import { TimedSearch } from "./timedSearch";

const artefact = decodeArtefact(testConfigurations(voting, ladder).bytes);
if (artefact.kind !== "configurations") throw new Error("The artefact is of another kind.");
const { space, predict } = configurationPredictor(artefact);
const largest = space.size - 1;

const text = shortText("q1");
const facts = { instructionTokens: 0, promptTokens: 6, inputTokens: 6, workflow: "voting", stage: "voter-1", sketch: sketchOf(text) };
const prompts = { facts: [facts, facts], texts: [text, text] };

function timed() {
  const searchMs = new MovingMean();
  return {
    searchMs,
    search: new TimedSearch({ size: space.size, search: async (of, options) => predict(of.facts, options) }, searchMs),
  };
}

afterEach(() => void vi.restoreAllMocks());

it("finds in time what the predictor finds without limit, and notes what a prompt took", async () => {
  const { search, searchMs } = timed();
  expect(await search.run(prompts, { byMs: Number.POSITIVE_INFINITY, withMargins: false })).toEqual(
    predict(prompts.facts).map((found) => ({ ...found, of: space.size })),
  );
  expect(searchMs.mean).toBeGreaterThan(0);
});

it("says how far every configuration is from being accepted where that is asked for: at least 0 for those that were found", async () => {
  const texts = [shortText("q1"), longText("q1")];
  const both = { facts: texts.map((own) => ({ ...facts, sketch: sketchOf(own) })), texts };
  const found = await timed().search.run(both, { byMs: Number.POSITIVE_INFINITY, withMargins: true });
  for (const { accurate, margins, of } of found) {
    expect(margins).toHaveLength(of);
    for (const configuration of membersOf(accurate)) expect(margins![configuration]).toBeGreaterThanOrEqual(0);
  }
  // Of the second prompt only the largest models are accurate.
  expect(Math.max(...found[1]!.margins!.subarray(0, largest))).toBeLessThan(0);
});

it("ends after any number of rounds with what their heads accepted, and does not take that for the time of a search", async () => {
  const [whole] = predict([facts]);
  let before = -1;
  for (let rounds = 0; ; rounds += 1) {
    const { search, searchMs } = timed();
    let nowMs = 0;
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (nowMs += 1));
    // The clock is read when the search begins, and once before each round.
    const [found] = await search.run(prompts, { byMs: rounds + 2, withMargins: false });
    clock.mockRestore();
    expect(hasConfiguration(found!.accurate, largest)).toBe(true);
    expect([...intersection(found!.accurate, whole!.accurate)]).toEqual([...found!.accurate]);
    if (found!.whole) {
      expect(found).toEqual({ ...whole, of: space.size });
      expect(rounds).toBeGreaterThan(1);
      return;
    }
    expect(searchMs.mean).toBeNull();
    if (rounds === 0) expect([countOf(found!.accurate), found!.evaluated]).toEqual([1, 0]);
    expect(found!.evaluated).toBeGreaterThan(before);
    before = found!.evaluated;
  }
});

it("lets rounds ask for fewer heads the less time is left, as long as a head took of late, and for none in the end", async () => {
  let nowMs = 0;
  vi.spyOn(performance, "now").mockImplementation(() => nowMs);
  const allowed: number[] = [];
  const search = async (_: object, { headsAllowed = () => 0 }: SearchOptions): Promise<readonly ConfigurationSearch[]> => {
    // Reading the prompts also takes time, but does not count for the heads.
    nowMs += 1000;
    for (let heads = headsAllowed(); heads > 0; heads = headsAllowed()) {
      allowed.push(heads);
      nowMs += 10;
    }
    return prompts.facts.map(() => ({ accurate: new Uint32Array(3), evaluated: 10, whole: false }));
  };
  const timedSearch = new TimedSearch({ size: space.size, search }, new MovingMean());
  await timedSearch.run(prompts, { byMs: 1040, withMargins: false });
  expect(allowed.splice(0)).toEqual([1, 2, 3, 4].map(() => Number.POSITIVE_INFINITY));
  // 40 ms for 20 heads: a quarter of the remaining 40 ms is five heads, which two prompts share.
  await timedSearch.run(prompts, { byMs: nowMs + 1040, withMargins: false });
  expect(allowed).toEqual([2, 1, 1, 1]);
});
