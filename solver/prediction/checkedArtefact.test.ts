import { describe, expect, it } from "vitest";
import { decodeArtefact, encodeArtefact } from "./artefact";
import type { Artefact } from "./checkedArtefact";
import { type ConfidenceArtefact, trainConfidence } from "./confidence";
import { type ConfigurationArtefact, trainConfigurations } from "./configurations";
import { type LengthArtefact, trainLengths } from "./lengths";
import type { QuantileForest } from "./quantileForest";
import { testConfidenceRows, testConfigurationRows, testLengthRows } from "./testing/testRows";

type Changed<T> = {
  -readonly [Key in keyof T]: T[Key] extends ArrayBufferView | string | number | boolean | null ? T[Key] : Changed<T[Key]>;
};

const lengths = trainLengths(testLengthRows(120, 1), { seed: 1 });
const confidence = trainConfidence(testConfidenceRows(120, 1), { seed: 1 });
const configurations = trainConfigurations(testConfigurationRows(120, 1), { seed: 1 });
const network = trainConfigurations(testConfigurationRows(120, 1), { seed: 1, kinds: ["network"] });

/** The message that refuses the bytes of a changed artefact; their checksum is right. */
function refusalOf<T extends Artefact>(artefact: T, change: (changed: Changed<T>) => void): unknown {
  const changed = structuredClone(artefact) as Changed<T>;
  change(changed);
  try {
    decodeArtefact(encodeArtefact(changed as never));
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return (error as RangeError).message;
  }
  return null;
}

const ofLengths = (change: (changed: Changed<LengthArtefact>) => void) => refusalOf(lengths, change);
const ofConfidence = (change: (changed: Changed<ConfidenceArtefact>) => void) => refusalOf(confidence, change);
const ofConfigurations = (change: (changed: Changed<ConfigurationArtefact>) => void) => refusalOf(configurations, change);
const ofForest = (change: (forest: Changed<QuantileForest>) => void) =>
  ofLengths((changed) => change(changed.lengths[0]?.remaining.forest as Changed<QuantileForest>));

describe("bytes that have a right checksum and are no predictor", () => {
  it("are taken as they were trained", () => {
    expect([ofLengths(() => undefined), ofConfidence(() => undefined), ofConfigurations(() => undefined)]).toEqual([null, null, null]);
  });

  it("are refused where they are of no kind, of no models, or of other models than they have forests or heads for", () => {
    expect(ofLengths((changed) => Object.assign(changed, { kind: "nonsense" }))).toMatch(/kind is not as it must be$/);
    expect(ofLengths((changed) => Object.assign(changed, { models: 5 }))).toMatch(/models is not as it must be$/);
    expect(ofLengths((changed) => Object.assign(changed, { models: [] }))).toMatch(/models is not as it must be$/);
    expect(ofLengths((changed) => Object.assign(changed, { lengths: [] }))).toMatch(/has forests for 0 models and names \d/);
    expect(ofLengths((changed) => Object.assign(changed, { more: 1 }))).toMatch(/it is not as it must be$/);
    expect(ofConfidence((changed) => changed.heads.pop())).toMatch(/has \d heads and names \d models/);
    expect(ofConfidence((changed) => changed.models.fill("twice"))).toMatch(/models names a model twice/);
  });

  it("are refused where a walk through a tree would not end, or leave it", () => {
    expect(ofForest((forest) => forest.next.fill(0))).toMatch(/remaining\.forest has a child that does not come after its parent/);
    expect(ofForest((forest) => forest.next.fill(forest.next.length - 1))).toMatch(/a child that does not come after its parent/);
    expect(ofForest((forest) => forest.roots.fill(forest.next.length))).toMatch(/one without a root/);
    expect(ofForest((forest) => Object.assign(forest, { roots: new Uint32Array() }))).toMatch(/has no trees/);
    expect(ofForest((forest) => Object.assign(forest, { feature: forest.feature.map((by) => (by < 0 ? by : 9999)) }))).toMatch(
      /splits by a feature that does not exist/,
    );
    expect(ofForest((forest) => Object.assign(forest, { threshold: forest.threshold.slice(1) }))).toMatch(/of different lengths/);
  });

  it("are refused where a leaf has no targets, or such as are none", () => {
    expect(ofForest((forest) => forest.leafStart.fill(0))).toMatch(/leaves that do not share out its targets/);
    expect(ofForest((forest) => forest.ranks.fill(65_535))).toMatch(/a target that does not exist/);
    expect(ofForest((forest) => forest.targets.reverse())).toMatch(/targets out of order or range/);
    expect(ofForest((forest) => Object.assign(forest, { targets: forest.targets.map((target) => target * 1000) }))).toMatch(
      /order or range/,
    );
  });

  it("are refused where a number is none", () => {
    expect(ofForest((forest) => forest.threshold.fill(Number.NaN))).toMatch(/forest\.threshold has something else than finite numbers/);
    expect(ofForest((forest) => forest.targets.fill(Number.POSITIVE_INFINITY))).toMatch(/something else than finite numbers/);
    expect(ofLengths((changed) => changed.text.usual.fill(Number.NaN))).toMatch(/text\.usual has something else/);
    expect(ofLengths((changed) => Object.assign(changed.lengths[0]?.request.usual ?? {}, { all: 1e9 }))).toMatch(/usual\.all is not/);
    expect(ofConfidence((changed) => changed.heads[0]?.weights.fill(Number.NaN))).toMatch(/heads\.0\.weights has something else/);
    expect(ofConfidence((changed) => Object.assign(changed.heads[0] ?? {}, { bias: null }))).toMatch(/heads\.0\.bias is not/);
  });

  it("are refused where words, weights and features do not agree", () => {
    expect(ofLengths((changed) => changed.text.words.buckets.reverse())).toMatch(/words has words out of order or range/);
    expect(ofLengths((changed) => Object.assign(changed.text.words, { idf: new Float32Array(1) }))).toMatch(/another number of weights/);
    expect(ofLengths((changed) => Object.assign(changed.text, { usual: new Float32Array(3) }))).toMatch(/usual features/);
    expect(ofForest((forest) => Object.assign(forest, { features: forest.features + 1 }))).toMatch(/reads other features than are made/);
    expect(ofConfidence((changed) => Object.assign(changed, { usual: new Float32Array(3) }))).toMatch(/weights or means/);
    expect(ofConfidence((changed) => Object.assign(changed, { words: null }))).toMatch(/what its heads read/);
  });

  it("are refused where heads are not those of a workflow's configurations", () => {
    expect(ofConfigurations((changed) => changed.models.pop())).toMatch(/it has 26 heads for 8 configurations/);
    expect(ofConfigurations((changed) => changed.models.splice(1))).toMatch(/its workflow has one configuration/);
    expect(ofConfigurations((changed) => Object.assign(changed.workflow.agents[0] ?? {}, { models: ["tiny"] }))).toMatch(
      /has no configurations: writer of refine may run on tiny/,
    );
    expect(ofConfigurations((changed) => Object.assign(changed.workflow.agents[1] ?? {}, { reads: ["nobody"] }))).toMatch(
      /workflow\.agents\.1\.reads critic reads nobody/,
    );
    expect(ofConfigurations((changed) => Object.assign(changed, { threshold: 1.5 }))).toMatch(/threshold is not as it must be/);
  });

  it("are refused where heads read other features than are made of prompts", () => {
    expect(ofConfigurations((changed) => Object.assign(changed.heads, { features: changed.heads.features + 1 }))).toMatch(
      /heads has another number of weights than of features/,
    );
    const wider = (changed: Changed<ConfigurationArtefact>) =>
      Object.assign(changed.heads, { features: 1, weights: new Float32Array(changed.heads.bias.length) });
    expect(ofConfigurations(wider)).toMatch(/heads that read other features than are made/);
    expect(ofConfigurations((changed) => Object.assign(changed.reading, { usual: new Float32Array(3) }))).toMatch(
      /reading has another number of means or directions than of features/,
    );
    expect(ofConfigurations((changed) => Object.assign(changed.reading, { words: null }))).toMatch(/in one way what its heads read/);
    expect(ofConfigurations((changed) => changed.heads.bias.fill(Number.NaN))).toMatch(/heads\.bias has something else than finite/);
  });

  it("are refused where a hidden layer reads other features than are made, or has other units than heads read", () => {
    const ofNetwork = (change: (changed: Changed<ConfigurationArtefact>) => void) => refusalOf(network, change);
    expect(ofNetwork(() => undefined)).toBeNull();
    const another = (units: number, features: number) => (changed: Changed<ConfigurationArtefact>) =>
      Object.assign(changed, { layer: { features, bias: new Float32Array(units), weights: new Float32Array(units * features) } });
    const { features, bias } = network.layer!;
    expect(ofNetwork(another(bias.length, features + 1))).toMatch(/a layer that reads other features than are made/);
    expect(ofNetwork(another(bias.length + 1, features))).toMatch(/heads that read other features than are made/);
    expect(ofNetwork((changed) => changed.layer?.weights.fill(Number.NaN))).toMatch(/layer\.weights has something else than finite/);
  });

  it("are refused where arrays are longer than the bytes, or share them", () => {
    const claims = (array: object) => refusalOf(confidence, (changed) => Object.assign(changed.words ?? {}, { buckets: array }));
    expect(claims({ array: "Float32Array", at: 0, length: 1e9 })).toMatch(/longer than its bytes/);
    expect(claims({ array: "Float32Array", at: 8, length: 1 })).toMatch(/not one after another/);
    expect(claims({ array: "constructor", at: 0, length: 1 })).toMatch(/buckets is not as it must be/);
    expect(claims({ array: "Float32Array", at: 0, length: 0.5 })).toMatch(/buckets is not as it must be/);
  });
});
