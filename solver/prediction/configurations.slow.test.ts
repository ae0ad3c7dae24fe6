import { describe, expect, it } from "vitest";
import { countOf, hasConfiguration } from "@/solver/workflow/configurationSet";
import { acceptanceThreshold, acceptedLoss, MOST_LOSS } from "./acceptance";
import { encodeArtefact } from "./artefact";
import type { ConfigurationRows } from "./configurationRows";
import { cheapestFirst, configurationPredictor, trainConfigurations } from "./configurations";
import { allLogits } from "./headBank";
import { heldOutConfigurations } from "./heldOut";
import { readPrompts } from "./promptReading";
import { testConfigurationRows, testSubjects } from "./testing/testRows";

const rows = testConfigurationRows(600, 1);
const fresh = testConfigurationRows(400, 5);
const artefact = trainConfigurations(rows, { seed: 1 });
const { predict, space } = configurationPredictor(artefact);
const heads = space.size - 1;

/** The output of every head for prompts, whether or not a search evaluates it. */
const verdicts = (of: ConfigurationRows): readonly boolean[] =>
  Array.from(
    allLogits(artefact.heads, readPrompts(artefact.reading)(of.facts)),
    (logit) => logit >= Math.log(artefact.threshold / (1 - artefact.threshold)),
  );

const tiny = { name: "tiny", sha256: "5".repeat(64) };

/** Vectors with more numbers than heads read, of which the second marks hard prompts. */
function embedded(of: ConfigurationRows, subjects: ReturnType<typeof testSubjects>): ConfigurationRows {
  const values = Float32Array.from({ length: of.prompts.length * 90 }, (_, at) => {
    const row = of.prompts[Math.floor(at / 90)]!;
    return at % 90 === 1 ? (subjects[row]!.isHard ? 40 : 20) : Math.sin(at * at + row);
  });
  return { ...of, embeddings: { encoder: tiny, dimensions: 90, values } };
}

describe("heads of configurations", () => {
  it("accept more where prompts are easy than where only large models solve them, and lose little", () => {
    const isHard = testSubjects(400, 5).map((subject) => subject.isHard);
    const accepted = predict(fresh.facts).map(({ accurate }) => countOf(accurate));
    const meanOf = (hard: boolean): number => {
      const own = accepted.filter((_, at) => isHard[fresh.prompts[at]!] === hard);
      return own.reduce((sum, count) => sum + count, 0) / own.length;
    };
    expect(meanOf(false)).toBeGreaterThan(meanOf(true) + 3);
    const { configurations, prompts } = heldOutConfigurations(artefact, fresh);
    expect(prompts).toBe(fresh.facts.length);
    expect(configurations?.precision).toBeGreaterThan(0.93);
    expect(configurations?.recall).toBeGreaterThan(0.4);
    expect(configurations?.meanLoss).toBeLessThan(2 * MOST_LOSS);
    expect(configurations?.evaluatedShare).toBeLessThan(1);
  });

  it("are one for every configuration but the largest models', over choices that keep their constraints", () => {
    expect([space.size, artefact.heads.bias.length]).toEqual([27, 26]);
    expect(artefact.workflow.agents.map(({ instructions }) => instructions).join("")).toBe("");
    for (const { accurate } of predict(fresh.facts)) expect(hasConfiguration(accurate, heads)).toBe(true);
  });

  it("never have a configuration accepted that its own head rejects", () => {
    const said = verdicts(fresh);
    for (const [prompt, { accurate }] of predict(fresh.facts).entries()) {
      for (let head = 0; head < heads; head++) {
        if (hasConfiguration(accurate, head)) expect(said[prompt * heads + head]).toBe(true);
      }
    }
  });

  it("leave to the largest models all that no search had time for", () => {
    for (const { accurate, evaluated, whole } of predict(fresh.facts, { headsAllowed: () => 0 })) {
      expect([countOf(accurate), hasConfiguration(accurate, heads), evaluated, whole]).toEqual([1, true, 0, false]);
    }
  });

  it("read an encoder's embeddings in place of words, and do not take the one for the other", () => {
    const trained = trainConfigurations(embedded(rows, testSubjects(600, 1)), { seed: 1 });
    expect(trained.reading.components).toBe(64);
    const held = embedded(fresh, testSubjects(400, 5));
    expect(heldOutConfigurations(trained, held).configurations?.recall).toBeGreaterThan(0.4);
    const predictor = configurationPredictor(trained);
    expect(predictor.predictOfEmbeddings(held.embeddings!.values)).toHaveLength(fresh.facts.length);
    expect(() => predictor.predict(fresh.facts)).toThrow("read an encoder's embeddings");
    expect(() => predictor.predictOfEmbeddings(new Float32Array(91))).toThrow("no embeddings of 90 each");
    expect(() => configurationPredictor(artefact).predictOfEmbeddings(new Float32Array(90))).toThrow("read words");
  });

  it("may read a hidden layer that they share, which finds what hard prompts need as well", () => {
    const trained = trainConfigurations(embedded(rows, testSubjects(600, 1)), { seed: 1, kinds: ["network"] });
    expect([trained.heads.features, trained.layer?.features]).toEqual([trained.layer?.bias.length, 64]);
    const { configurations } = heldOutConfigurations(trained, embedded(fresh, testSubjects(400, 5)));
    expect(configurations?.precision).toBeGreaterThan(0.9);
    expect(configurations?.recall).toBeGreaterThan(0.4);
    expect(configurations?.meanLoss).toBeLessThan(2 * MOST_LOSS);
  });

  it("go by how many programs a prompt stands for", () => {
    // Half of the prompts are hard by their content, the others by their length: the prompts with most programs have most weight in the
    // heads.
    const subjects = testSubjects(600, 1);
    const isHard = (at: number): boolean => subjects[rows.prompts[at]!]!.isHard;
    const isLong = (at: number): boolean => subjects[rows.prompts[at]!]!.tokens >= 18;
    const accurate = rows.accurate.map((_, at) => {
      const row = Math.floor(at / space.size);
      return at % space.size < heads && (row % 2 === 0 ? isHard(row) : isLong(row)) ? 0.05 : 0.95;
    });
    const hardMoreThanLong = (weighty: 0 | 1): boolean => {
      const programs = Float32Array.from(rows.prompts, (_, at) => (at % 2 === weighty ? 9 : 1));
      const trained = trainConfigurations({ ...rows, accurate, programs }, { seed: 1 });
      const logits = allLogits(trained.heads, readPrompts(trained.reading)(rows.facts));
      const meanOf = (of: (at: number) => boolean): number => {
        const own = Array.from(rows.prompts.keys()).filter(of);
        return own.reduce((sum, at) => sum + logits[at * heads]!, 0) / own.length;
      };
      const [hard, long] = [isHard, isLong].map((of) => meanOf((at) => !of(at)) - meanOf(of));
      expect(Math.min(hard!, long!)).toBeGreaterThan(0);
      return hard! > long!;
    };
    expect([hardMoreThanLong(0), hardMoreThanLong(1)]).toEqual([true, false]);
  });

  it("are the same for the same rows and seed, to the byte", () => {
    expect(Buffer.from(encodeArtefact(trainConfigurations(rows, { seed: 1 }))).equals(encodeArtefact(artefact))).toBe(true);
  });

  it("are not trained of nothing, or to choose from nothing", () => {
    const unknown = { ...rows, programs: rows.programs.map(() => 0) };
    expect(() => trainConfigurations(unknown, { seed: 1 })).toThrow("No program of refine of which is known how good it is");
    expect(() => trainConfigurations({ ...rows, facts: rows.facts.slice(0, 3) }, { seed: 1 })).toThrow("of 3 prompts");
    expect(() => trainConfigurations({ ...rows, space: { ...space, size: 1 } }, { seed: 1 })).toThrow("has one configuration");
  });
});

describe("the threshold of acceptance", () => {
  const { size } = space;
  const costs = { ...fresh, size, cheapestFirst: cheapestFirst(space) };
  const prompts = fresh.facts.length;

  it("lets nothing through where whatever is accepted loses too much, and all where nothing is lost", () => {
    const sure = new Float32Array(prompts * heads).fill(20);
    const losing = { ...costs, loss: Float32Array.from(costs.loss, (_, at) => (at % size === heads ? 0 : 50)) };
    expect(acceptanceThreshold(sure, losing)).toBe(1);
    expect(acceptanceThreshold(sure, { ...costs, loss: new Float32Array(costs.loss.length) })).toBeLessThan(0.05);
  });

  it("is the least at which the prompts it was chosen on lose no more than allowed", () => {
    const logits = new Float32Array(prompts * heads);
    for (let prompt = 0; prompt < prompts; prompt++) {
      for (let head = 0; head < heads; head++) logits[prompt * heads + head] = 4 - (costs.loss[prompt * size + head]! + (head % 7)) / 10;
    }
    const threshold = acceptanceThreshold(logits, costs);
    const lossAt = (chance: number) =>
      acceptedLoss(costs, (prompt, head) => logits[prompt * heads + head]! >= Math.log(chance / (1 - chance)));
    const worst = ({ mean, cheapest, meanError, cheapestError }: ReturnType<typeof lossAt>) =>
      Math.max(mean + meanError, cheapest + cheapestError);
    expect(worst(lossAt(threshold))).toBeLessThanOrEqual(MOST_LOSS);
    const next = 1 / (1 + Math.exp(-(Math.log(threshold / (1 - threshold)) - 0.1)));
    expect(worst(lossAt(next))).toBeGreaterThan(MOST_LOSS);
  });

  it("accepts less of few prompts than of the same ten times over, by one standard error", () => {
    const few = 20;
    // A single configuration in addition to the largest: for every fifth prompt it loses 9 points, 1.8 on average.
    const costsOf = (times: number) => ({
      ...{ size: 2, programs: new Float32Array(few * times).fill(1), cheapestFirst: Int32Array.of(0, 1) },
      loss: Float32Array.from({ length: 2 * few * times }, (_, at) => (at % 2 === 0 && (at / 2) % 5 === 0 ? 9 : 0)),
    });
    const sure = (times: number) => new Float32Array(few * times).fill(9);
    expect(acceptanceThreshold(sure(1), costsOf(1))).toBe(1);
    expect(acceptanceThreshold(sure(1000), costsOf(1000))).toBeLessThan(0.05);
    const errors = [1, 10].map((times) => acceptedLoss(costsOf(times), () => true).cheapestError);
    expect(errors[0]! / errors[1]!).toBeCloseTo(Math.sqrt(10), 4);
  });

  it("counts the configuration with the fewest steps up as the cheapest", () => {
    const order = cheapestFirst(space);
    expect([order[0], order.at(-1)]).toEqual([0, heads]);
    expect([...order].sort((one, other) => one - other)).toEqual(Array.from({ length: size }, (_, at) => at));
  });
});
