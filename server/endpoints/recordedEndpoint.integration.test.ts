import { expect, it } from "vitest";
import { recordedVllm } from "@/server/engines/testing/recordedEngine";
import { startReplay } from "@/server/engines/testing/replayServer";
import { catalogueOf, noUserCards } from "@/solver/hardware/catalogue";
import { describeEndpoint } from "./describeEndpoint";
import { probeEndpoint } from "./probeEndpoint";

const recorded = recordedVllm();
const { signal } = new AbortController();

it("recognises a real vLLM by what it says, with every figure of its metrics", async () => {
  const engine = await startReplay(recorded);
  const probe = await probeEndpoint({ name: "real", url: engine.url }, { signal, limitMs: 20_000 });
  expect(probe.engine).toEqual({ type: "vllm", version: expect.stringMatching(/^0\.32\.0/) });
  expect(probe.absent).toEqual([]);
  expect(probe.served).toEqual([{ id: "arith-small", root: "/models/arith-small", parent: null, maxModelLen: 512, loaded: null }]);
  expect(probe.findings.filter(({ level }) => level === "failed")).toEqual([]);
  // Outside of its development mode it tells neither its shape nor the limits of its scheduler.
  expect([probe.shape, probe.limits]).toEqual([null, null]);
});

it("reads a token of a real stream", async () => {
  const engine = await startReplay(recorded);
  engine.answerWith("chat stream");
  const probe = await probeEndpoint({ name: "real", url: engine.url }, { signal, generate: true, limitMs: 20_000 });
  expect(probe.ttftSeconds).toBeGreaterThan(0);
  expect(probe.findings.find(({ what }) => what === "token")?.level).toBe("ok");
});

it("describes a real endpoint by the card of what it loaded, and asks for one where there is none", async () => {
  const engine = await startReplay(recorded);
  const target = { name: "real", url: engine.url };
  const probe = await probeEndpoint(target, { signal, limitMs: 20_000 });
  const cards = catalogueOf(noUserCards);
  expect(describeEndpoint(target, probe, { cards })).toMatchObject({ endpoint: null, questions: [expect.stringContaining("arith-small")] });
  const [like] = Object.values(cards.models);
  if (like === undefined) throw new Error("There are cards.");
  const own = { ...cards, models: { ...cards.models, "arith-small": { ...like, id: "arith-small" } } };
  const { endpoint, guesses } = describeEndpoint(target, probe, { cards: own });
  expect(endpoint).toMatchObject({ model: "arith-small", url: engine.url });
  expect(endpoint).not.toHaveProperty("limits");
  expect(guesses.map(({ field }) => field)).toEqual(["gpu", "precision", "tp", "pp"]);
});
