import { describe, expect, it } from "vitest";
import { peerProblem, peerReadings } from "./peerAgreement";

const texts: Readonly<Record<string, readonly string[]>> = {
  small: ["it is 4", "it is 5", "none", "so 7"],
  peer: ["4", "4", "none"],
  large: ["I say 4.0", "I say 4", "it is 9", "so 7"],
};
const textsOf = (model: string) => (texts[model] ?? []).map((answer, position) => ({ position, answer }));
const request = (...models: readonly string[]) => ({
  models: models.map((model) => ({
    ...{ model, at: { kind: "cluster", clusterId: "c" } as const, usdPerMillionInputTokens: 0, usdPerMillionOutputTokens: 0 },
  })),
});

describe("agreement with a peer of a profile", () => {
  it("compares the answers of every other model with the peer's to the same prompt, by the part that is asked for", () => {
    const readings = [...peerReadings(["small", "peer", "large"], { model: "peer", answer: "number" }, textsOf)];
    const of = (name: string) => readings.flatMap(({ model, position, score }) => (model === name ? [[position, score]] : []));
    const [small, peer, large] = ["small", "peer", "large"].map(of);
    // Nothing to compare counts as no agreement; the peer gave no fourth answer.
    expect(small).toEqual([
      [0, 100],
      [1, 0],
      [2, 0],
    ]);
    expect(large?.map(([, score]) => score)).toEqual([100, 100, 0]);
    expect(peer).toEqual([]);
  });

  it("is refused with the reason for an unknown peer, a profile of one model, and answers without texts", () => {
    const peer = { model: "peer", answer: "number" } as const;
    expect(peerProblem(request("small", "peer"), peer, true)).toEqual({ ok: true });
    expect(peerProblem(request("small", "large"), peer, true)).toMatchObject({
      message: expect.stringContaining("no model of this profile"),
    });
    expect(peerProblem(request("peer"), peer, true)).toMatchObject({ message: expect.stringContaining("needs a second model") });
    expect(peerProblem(request("small", "peer"), peer, false)).toMatchObject({ message: expect.stringContaining("keep the texts") });
  });
});
